// resources/openapi.json against what it describes: the table of routes, and the readers' ranges.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <set>

#include "daemon/api/router.h"
#include "ipc/protocol/chat.h"
#include "tests/system/running_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace json = boost::json;

namespace {

const json::object& description() {
    static const json::value value =
        protocol::parse_json(text_of(HEARTH_SOURCE_DIR "/resources/openapi.json")).value();
    return value.get_object();
}

const json::object& schema(const char* name) {
    return description().at("components").at("schemas").at(name).get_object();
}

TEST(OpenApi, NamesExactlyTheRoutesOfTheTable) {
    std::set<std::string> described;
    for (const auto& [path, item] : description().at("paths").get_object())
        for (const auto& member : item.get_object()) {
            std::string method(member.key());
            if (method == "parameters") continue;
            std::transform(method.begin(), method.end(), method.begin(),
                           [](char c) { return static_cast<char>(c - 'a' + 'A'); });
            described.insert(method + " " + std::string(path));
        }
    std::set<std::string> served;
    for (const api::Route& route : api::Router::routes())
        served.insert(std::string(route.method) + " " + std::string(route.pattern));
    EXPECT_EQ(described, served);
}

TEST(OpenApi, EveryReferenceLeadsSomewhereAndEveryPartIsUsed) {
    const std::string text = json::serialize(description());
    std::set<std::string> used;
    const std::string mark = "\"$ref\":\"#/components/";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        const std::size_t start = at + mark.size();
        used.insert(text.substr(start, text.find('"', start) - start));
    }
    std::set<std::string> defined;
    for (const char* kind : {"schemas", "responses", "headers"})
        for (const auto& entry : description().at("components").at(kind).get_object())
            defined.insert(std::string(kind) + "/" + std::string(entry.key()));
    EXPECT_EQ(used, defined);
}

// A property with a range, and the body of a request into which it is put.
struct Numeric {
    std::string name;
    json::object range;
    std::string before, after;
    bool is_chat;
    bool is_integer;

    friend void PrintTo(const Numeric& one, std::ostream* out) { *out << one.name; }
};

std::vector<Numeric> numeric_properties(const json::object& properties, bool is_chat) {
    std::vector<Numeric> found;
    std::string start = is_chat ? R"({"messages":[{"role":"user","content":"a"}],"logprobs":true,)"
                                : R"({"prompt":"a",)";
    for (const auto& [name, value] : properties) {
        const json::object& property = value.get_object();
        const auto add = [&](const json::object& range, const std::string& path,
                             const std::string& before, const std::string& after) {
            const json::array* types =
                range.contains("type") ? range.at("type").if_array() : nullptr;
            if (types == nullptr) return;
            const bool is_integer = types->front() == json::value("integer");
            if (!is_integer && types->front() != json::value("number")) return;
            found.push_back({path, range, before, after, is_chat, is_integer});
        };
        const std::string key(name);
        add(property, key, start + '"' + key + "\":", "}");
        if (const json::value* entries = property.if_contains("additionalProperties"))
            if (entries->is_object())
                add(entries->get_object(), key + ".7", start + '"' + key + "\":{\"7\":", "}}");
    }
    return found;
}

std::vector<Numeric> all_numeric_properties() {
    std::vector<Numeric> all;
    const auto take = [&](const json::value& properties, bool is_chat) {
        for (Numeric& one : numeric_properties(properties.get_object(), is_chat))
            all.push_back(std::move(one));
    };
    take(schema("GenerationOptions").at("properties"), true);
    take(schema("GenerationOptions").at("properties"), false);
    take(schema("ChatRequest").at("allOf").at(1).at("properties"), true);
    take(schema("CompletionRequest").at("allOf").at(1).at("properties"), false);
    return all;
}

std::string blamed(const Numeric& property, const std::string& number) {
    const auto body = protocol::parse_json(property.before + number + property.after);
    if (!body) return "(not JSON)";
    protocol::Fields fields(body->get_object());
    if (property.is_chat)
        protocol::read_chat_request(fields);
    else
        protocol::read_completion_request(fields);
    return fields.failure() ? fields.failure()->param : "(none)";
}

double number_of(const json::value& value) { return value.to_number<double>(); }

std::string text_of_number(double number) {
    return number == std::floor(number) && std::abs(number) < 1e15
               ? std::to_string(static_cast<std::int64_t>(number))
               : json::serialize(json::value(number));
}

class T039 : public ::testing::TestWithParam<Numeric> {};

TEST_P(T039, EveryNumberIsTakenOrRefusedAsDescribed) {
    const Numeric& property = GetParam();
    const bool is_open = property.range.contains("exclusiveMinimum");
    const json::value& low_value = property.range.at(is_open ? "exclusiveMinimum" : "minimum");
    const json::value& high_value = property.range.at("maximum");
    const double low = number_of(low_value);
    const double high = number_of(high_value);
    EXPECT_EQ(blamed(property, json::serialize(high_value)), "(none)");
    EXPECT_EQ(blamed(property, json::serialize(low_value)), is_open ? property.name : "(none)");
    EXPECT_EQ(blamed(property, "null"), "(none)");
    EXPECT_EQ(blamed(property, "NaN"), "(not JSON)");
    EXPECT_EQ(blamed(property, "Infinity"), "(not JSON)");
    EXPECT_EQ(blamed(property, "1e999"), "(not JSON)");
    for (const char* wrong : {"1e308", "-1e308", "\"1\"", "true", "[]", "{}", "[1]"})
        EXPECT_EQ(blamed(property, wrong), property.name) << wrong;
    EXPECT_EQ(blamed(property, "1.5") == "(none)", !property.is_integer && high >= 1.5);
    const bool takes_64_bits = high_value.is_uint64();
    EXPECT_EQ(blamed(property, "-9223372036854775808"), takes_64_bits ? "(none)" : property.name);
    if (takes_64_bits) {
        EXPECT_EQ(blamed(property, "-9223372036854775809"), property.name);
        EXPECT_EQ(blamed(property, "18446744073709551616"), property.name);
        return;
    }
    EXPECT_EQ(blamed(property, text_of_number(low - 1)), property.name);
    EXPECT_EQ(blamed(property, text_of_number(high + 1)), property.name);
    if (property.is_integer) return;
    EXPECT_EQ(blamed(property, text_of_number(high + 1e-6)), property.name);
    EXPECT_EQ(blamed(property, text_of_number(low - 1e-6)), property.name);
    EXPECT_EQ(blamed(property, text_of_number(low + 1e-6)), "(none)");
}

INSTANTIATE_TEST_SUITE_P(All, T039, ::testing::ValuesIn(all_numeric_properties()),
                         [](const auto& test) {
                             std::string name = test.param.name;
                             std::replace(name.begin(), name.end(), '.', '_');
                             return name + (test.param.is_chat ? "_of_chat" : "_of_completion");
                         });

TEST(OpenApi, EveryNumericFieldOfARequestHasARange) {
    EXPECT_GE(all_numeric_properties().size(), 24U);
    for (const Numeric& property : all_numeric_properties()) {
        EXPECT_TRUE(property.range.contains("maximum")) << property.name;
        EXPECT_NE(property.range.contains("minimum"), property.range.contains("exclusiveMinimum"))
            << property.name;
    }
}

// The other direction: what the description names, the readers know.
TEST(OpenApi, EveryFieldOfARequestIsReadByItsReader) {
    for (const bool is_chat : {true, false}) {
        json::object body;
        for (const json::value& properties : {schema("GenerationOptions").at("properties"),
                                              schema(is_chat ? "ChatRequest" : "CompletionRequest")
                                                  .at("allOf")
                                                  .at(1)
                                                  .at("properties")})
            for (const auto& entry : properties.get_object()) body[entry.key()] = nullptr;
        protocol::Fields fields(body);
        if (is_chat)
            protocol::read_chat_request(fields);
        else
            protocol::read_completion_request(fields);
        EXPECT_EQ(fields.unknown(), std::vector<std::string>{});
    }
}

}  // namespace
