// JSON of the messages. `Writer` and `Reader` walk the field lists of fields.h.
#include "ipc/worker/codec.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/base/utf8.h"
#include "ipc/worker/fields.h"

namespace hearth::wire {
namespace {

namespace json = boost::json;

// A chat template takes 128 levels (engine/chat); what lies around its variables takes a few more.
constexpr std::size_t kMaxDepth = 160;

constexpr std::array<std::string_view, 3> kPriorities = {"interactive", "api", "background"};
constexpr std::array<std::string_view, 3> kFinishReasons = {"stop", "length", "cancelled"};
constexpr std::array<std::string_view, 3> kPrompts = {"chat", "text", "ids"};

template <typename T, std::size_t kCount>
bool pick(const std::array<std::string_view, kCount>& names, std::string_view name, T& out) {
    for (std::size_t i = 0; i < kCount; ++i) {
        if (names[i] != name) continue;
        out = static_cast<T>(i);
        return true;
    }
    return false;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// ---- writing ----

class Writer {
public:
    template <typename T>
    void operator()(std::string_view name, const T& field) {
        object.emplace(name, value_of(field));
    }
    void hex(std::string_view name, const std::string& bytes) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        std::string text;
        for (const char c : bytes) {
            const auto byte = static_cast<unsigned char>(c);
            text.push_back(kDigits[byte >> 4U]);
            text.push_back(kDigits[byte & 15U]);
        }
        object.emplace(name, text);
    }

    json::object object;

private:
    static json::value value_of(const std::string& text) { return json::string(repair_utf8(text)); }
    static json::value value_of(bool flag) { return flag; }
    static json::value value_of(std::integral auto number) { return number; }
    // JSON has no infinity; a log-probability of zero probability is the lowest float.
    static json::value value_of(float number) {
        return std::isfinite(number) ? number : std::numeric_limits<float>::lowest();
    }
    static json::value value_of(double number) { return std::isfinite(number) ? number : 0.0; }
    static json::value value_of(const json::object& object) { return object; }
    static json::value value_of(ErrorCode code) { return json::string(to_string(code)); }
    static json::value value_of(Priority priority) { return json::string(to_string(priority)); }
    static json::value value_of(FinishReason reason) { return json::string(to_string(reason)); }
    static json::value value_of(const std::optional<std::uint64_t>& number) {
        return number ? json::value(*number) : json::value(nullptr);
    }
    static json::value value_of(const std::optional<bool>& flag) {
        return flag ? json::value(*flag) : json::value(nullptr);
    }
    static json::value value_of(const std::pair<std::int32_t, float>& pair) {
        return json::array{value_of(pair.first), value_of(pair.second)};
    }
    static json::value value_of(const decltype(Generate::prompt)& prompt) {
        const std::string_view name = kPrompts[prompt.index()];
        return std::visit([&](const auto& kind) { return json::object{{name, value_of(kind)}}; },
                          prompt);
    }
    template <typename T>
    static json::value value_of(const std::vector<T>& items) {
        json::array array;
        array.reserve(items.size());
        for (const T& item : items) array.push_back(value_of(item));
        return array;
    }
    template <typename T>
        requires requires(Writer& w, const T& m) { each_field(w, m); }
    static json::value value_of(const T& message) {
        Writer inner;
        each_field(inner, message);
        return std::move(inner.object);
    }
};

// ---- reading ----

class Reader {
public:
    explicit Reader(const json::object& object) : object_(object) {}

    template <typename T>
    void operator()(std::string_view name, T& field) {
        const json::value* value = find(name);
        if (value != nullptr && !read(*value, field)) fail(name);
    }
    void hex(std::string_view name, std::string& bytes) {
        const json::value* value = find(name);
        if (value == nullptr) return;
        if (!value->is_string() || value->get_string().size() % 2 != 0) return fail(name);
        const std::string_view text = value->get_string();
        for (std::size_t i = 0; i < text.size(); i += 2) {
            const int high = hex_digit(text[i]);
            const int low = hex_digit(text[i + 1]);
            if (high < 0 || low < 0) return fail(name);
            bytes.push_back(static_cast<char>(static_cast<unsigned char>(high * 16 + low)));
        }
    }
    // The field that is wrong, empty when all is well.
    const std::string& finish() {
        if (problem_.empty() && seen_ != object_.size()) problem_ = "(unknown field)";
        return problem_;
    }

private:
    const json::value* find(std::string_view name) {
        if (!problem_.empty()) return nullptr;
        const json::value* value = object_.if_contains(name);
        if (value == nullptr) {
            fail(name);
        } else {
            ++seen_;
        }
        return value;
    }
    void fail(std::string_view name) {
        if (problem_.empty()) problem_ = name;
    }

    static bool read(const json::value& value, std::string& out) {
        if (!value.is_string()) return false;
        out = value.get_string();
        return true;
    }
    static bool read(const json::value& value, bool& out) {
        if (!value.is_bool()) return false;
        out = value.get_bool();
        return true;
    }
    template <std::integral T>
    static bool read(const json::value& value, T& out) {
        if (value.is_int64() && std::in_range<T>(value.get_int64())) {
            out = static_cast<T>(value.get_int64());
            return true;
        }
        if (value.is_uint64() && std::in_range<T>(value.get_uint64())) {
            out = static_cast<T>(value.get_uint64());
            return true;
        }
        return false;
    }
    static bool read(const json::value& value, double& out) {
        if (!value.is_number()) return false;
        out = value.is_double()  ? value.get_double()
              : value.is_int64() ? static_cast<double>(value.get_int64())
                                 : static_cast<double>(value.get_uint64());
        return std::isfinite(out);
    }
    static bool read(const json::value& value, float& out) {
        double wide = 0;
        if (!read(value, wide)) return false;
        // The parser may miss the last bit of a double: the largest float must still come in.
        constexpr double kMax = std::numeric_limits<float>::max();
        if (std::abs(wide) > kMax * (1 + 1e-12)) return false;
        out = static_cast<float>(std::clamp(wide, -kMax, kMax));
        return true;
    }
    static bool read(const json::value& value, json::object& out) {
        if (!value.is_object()) return false;
        out = value.get_object();
        return true;
    }
    static bool read(const json::value& value, ErrorCode& out) {
        if (!value.is_string()) return false;
        out = error_code_from_string(value.get_string());
        return true;
    }
    static bool read(const json::value& value, Priority& out) {
        return value.is_string() && pick(kPriorities, value.get_string(), out);
    }
    static bool read(const json::value& value, FinishReason& out) {
        return value.is_string() && pick(kFinishReasons, value.get_string(), out);
    }
    static bool read(const json::value& value, std::optional<std::uint64_t>& out) {
        if (value.is_null()) return true;
        return read(value, out.emplace());
    }
    static bool read(const json::value& value, std::optional<bool>& out) {
        if (value.is_null()) return true;
        return read(value, out.emplace());
    }
    static bool read(const json::value& value, std::pair<std::int32_t, float>& out) {
        if (!value.is_array() || value.get_array().size() != 2) return false;
        return read(value.get_array()[0], out.first) && read(value.get_array()[1], out.second);
    }
    static bool read(const json::value& value, decltype(Generate::prompt)& out) {
        if (!value.is_object() || value.get_object().size() != 1) return false;
        const auto& member = *value.get_object().begin();
        std::size_t kind = 0;
        if (!pick(kPrompts, member.key(), kind)) return false;
        if (kind == 0) return read(member.value(), out.emplace<ChatPrompt>());
        if (kind == 1) return read(member.value(), out.emplace<TextPrompt>());
        return read(member.value(), out.emplace<IdsPrompt>());
    }
    template <typename T>
    static bool read(const json::value& value, std::vector<T>& out) {
        if (!value.is_array()) return false;
        out.reserve(value.get_array().size());
        for (const json::value& item : value.get_array()) {
            if (!read(item, out.emplace_back())) return false;
        }
        return true;
    }
    template <typename T>
        requires requires(Reader& r, T& m) { each_field(r, m); }
    static bool read(const json::value& value, T& message) {
        if (!value.is_object()) return false;
        Reader inner(value.get_object());
        each_field(inner, message);
        return inner.finish().empty();
    }

    const json::object& object_;
    std::size_t seen_ = 0;
    std::string problem_;
};

// ---- kinds ----

template <typename... Ts>
struct List {};
using ToWorkerKinds =
    List<Load, Generate, Cancel, Credit, Shutdown, StatsRequest, Tokenize, Detokenize>;
using FromWorkerKinds = List<Ready, Failed, Accepted, Delta, Done, Failure, Stats, Tokens>;

constexpr Kind kind_of(const Load&) { return Kind::load; }
constexpr Kind kind_of(const Generate&) { return Kind::generate; }
constexpr Kind kind_of(const Cancel&) { return Kind::cancel; }
constexpr Kind kind_of(const Credit&) { return Kind::credit; }
constexpr Kind kind_of(const Shutdown&) { return Kind::shutdown; }
constexpr Kind kind_of(const StatsRequest&) { return Kind::stats_request; }
constexpr Kind kind_of(const Tokenize&) { return Kind::tokenize; }
constexpr Kind kind_of(const Detokenize&) { return Kind::detokenize; }
constexpr Kind kind_of(const Ready&) { return Kind::ready; }
constexpr Kind kind_of(const Failed&) { return Kind::failed; }
constexpr Kind kind_of(const Accepted&) { return Kind::accepted; }
constexpr Kind kind_of(const Delta&) { return Kind::delta; }
constexpr Kind kind_of(const Done&) { return Kind::done; }
constexpr Kind kind_of(const Failure&) { return Kind::failure; }
constexpr Kind kind_of(const Stats&) { return Kind::stats; }
constexpr Kind kind_of(const Tokens&) { return Kind::tokens; }

template <typename T>
Result<std::string> encode_message(std::uint64_t request, const T& message) {
    Writer writer;
    each_field(writer, message);
    const std::string payload = json::serialize(writer.object);
    if (payload.size() > kMaxPayload) {
        return Error{ErrorCode::too_large, "a message of " + std::to_string(payload.size()) +
                                               " bytes; the most is " +
                                               std::to_string(kMaxPayload)};
    }
    return encode_frame(kind_of(message), request, payload);
}

template <typename Message, typename T>
Result<Message> decode_as(const json::object& object) {
    T message;
    Reader reader(object);
    each_field(reader, message);
    if (const std::string& field = reader.finish(); !field.empty()) {
        return Error{ErrorCode::bad_input, "the field \"" + field + "\" is missing or malformed"};
    }
    return Message(std::move(message));
}

template <typename Message, typename... Ts>
Result<Message> decode_any(const Frame& frame, List<Ts...>) {
    boost::system::error_code failed;
    const json::value value =
        json::parse(frame.payload, failed, {}, json::parse_options{.max_depth = kMaxDepth});
    const std::string name = "message of kind " + std::to_string(frame.kind);
    if (failed) return Error{ErrorCode::bad_input, name + " is not JSON: " + failed.message()};
    if (!value.is_object()) return Error{ErrorCode::bad_input, name + " is not a JSON object"};

    std::optional<Result<Message>> result;
    const auto try_kind = [&](const auto& sample) {
        using T = std::remove_cvref_t<decltype(sample)>;
        if (static_cast<std::uint16_t>(kind_of(sample)) != frame.kind) return;
        result = decode_as<Message, T>(value.get_object());
    };
    (try_kind(Ts{}), ...);
    if (!result) return Error{ErrorCode::bad_input, name + ": this kind is not known"};
    if (!*result) {
        return Error{ErrorCode::bad_input, name + ": " + std::move(*result).error().message};
    }
    return *std::move(result);
}

}  // namespace

Result<std::string> encode(std::uint64_t request, const ToWorker& message) {
    return std::visit([&](const auto& m) { return encode_message(request, m); }, message);
}

Result<std::string> encode(std::uint64_t request, const FromWorker& message) {
    return std::visit([&](const auto& m) { return encode_message(request, m); }, message);
}

Result<ToWorker> decode_to_worker(const Frame& frame) {
    return decode_any<ToWorker>(frame, ToWorkerKinds{});
}

Result<FromWorker> decode_from_worker(const Frame& frame) {
    return decode_any<FromWorker>(frame, FromWorkerKinds{});
}

std::string_view to_string(Priority priority) {
    return kPriorities[static_cast<std::size_t>(priority)];
}

std::string_view to_string(FinishReason reason) {
    return kFinishReasons[static_cast<std::size_t>(reason)];
}

}  // namespace hearth::wire
