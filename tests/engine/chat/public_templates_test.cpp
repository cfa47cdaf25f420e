// Real chat templates of public models against what Jinja2 makes of them. The templates are their
// makers' text and not part of this repository; the test needs the folder beside it.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>

#include "engine/chat/template.h"
#include "tests/engine/chat/json_value.h"

using namespace hearth;
using namespace hearth::chat;

namespace {

const std::string kFolder = HEARTH_SOURCE_DIR "/../shared/data/templates/";
constexpr int kRecords = 1060;

// Files that do not pass yet: the list may only shrink.
std::set<std::string> not_yet() {
    std::set<std::string> files;
    std::istringstream lines(read_file(HEARTH_SOURCE_DIR "/tests/data/templates_not_yet.txt"));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '#') files.insert(line);
    return files;
}

struct Expected {
    boost::json::value json = parse_json(read_file(kFolder + "expected.json"));

    Value variables(const std::string& name, bool add_generation_prompt) const {
        std::vector<Member> members;
        for (const auto& [key, value] : json.at("cases").at(name).as_object())
            members.push_back({key, to_value(value)});
        members.push_back({"add_generation_prompt", Value::boolean(add_generation_prompt)});
        for (const char* token : {"bos_token", "eos_token"})
            members.push_back({token, Value::string(json.at(token).as_string(), Origin::trusted)});
        return Value::object(std::move(members));
    }

    RenderOptions options() const {
        RenderOptions options;
        options.now = LocalTime::parse(json.at("now").as_string()).value();
        // Correctness is the matter here; the machine may be busy or the build slow.
        options.limits.wall = std::chrono::seconds(20);
        return options;
    }
};

// Empty when the record passes, else what is wrong.
std::string check(const Template& parsed, const Expected& expected,
                  const boost::json::object& record) {
    const std::string name(record.at("case").as_string());
    const bool prompt = record.at("add_generation_prompt").as_bool();
    const auto rendered = parsed.render(expected.variables(name, prompt), expected.options());
    const std::string where = name + (prompt ? " with prompt: " : ": ");
    if (const auto* error = record.if_contains("error")) {
        if (!rendered) return {};
        return where + "no error, but Jinja2 says " + std::string(error->as_string());
    }
    if (!rendered) return where + rendered.error().message;
    const std::string text(record.at("text").as_string());
    const std::string& got = rendered->text;
    if (got == text) return {};
    std::size_t at = 0;
    while (at < std::min(got.size(), text.size()) && got[at] == text[at]) ++at;
    return where + "differs at byte " + std::to_string(at) + ": got «" + got.substr(at, 60) +
           "», expected «" + text.substr(at, 60) + "»";
}

TEST(T052, PublicTemplatesRenderAsJinja2Does) {
    if (read_file(kFolder + "expected.json").empty())
        GTEST_SKIP() << "no " << kFolder << "expected.json";
    const Expected expected;
    std::map<std::string, std::string> failures;
    std::set<std::string> files;
    std::map<std::string, Result<Template>> parsed;
    int passed = 0;
    int seen = 0;
    for (const auto& item : expected.json.at("records").as_array()) {
        const auto& record = item.as_object();
        const std::string file(record.at("template").as_string());
        files.insert(file);
        auto found = parsed.find(file);
        if (found == parsed.end())
            found = parsed.emplace(file, Template::parse(read_file(kFolder + file))).first;
        ++seen;
        const std::string failure =
            found->second ? check(*found->second, expected, record) : found->second.error().message;
        if (failure.empty()) {
            ++passed;
        } else {
            failures.emplace(file, failure);
        }
    }
    RecordProperty("passed", passed);
    EXPECT_EQ(seen, kRecords);
    EXPECT_GE(passed, 700);
    const auto listed = not_yet();
    for (const std::string& file : files) {
        const auto failure = failures.find(file);
        if (listed.count(file) > 0) {
            EXPECT_NE(failure, failures.end())
                << file << " passes: take it off tests/data/templates_not_yet.txt";
        } else if (failure != failures.end()) {
            ADD_FAILURE() << file << ": " << failure->second;
        }
    }
    for (const std::string& file : listed) EXPECT_EQ(files.count(file), 1U) << "unknown " << file;
}

}  // namespace
