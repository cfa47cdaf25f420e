// Reads typed fields out of a JSON object that somebody else wrote. The first thing that is wrong
// is kept as a Failure that names the field, and every later read gives a default: so a request is
// read in one go and checked once at the end (see read_options in generation_options.cpp).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "ipc/protocol/failure.h"

namespace hearth::protocol {

// One JSON text, at most kMaxJsonDepth deep. bad_input says where it breaks, invalid_utf8 at which
// byte; neither quotes the text.
Result<json::value> parse_json(std::string_view text);

struct NumberRange {
    double low = -std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::max();
    bool open_low = false;  // `low` itself is out of range
};
struct IntegerRange {
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

class Fields {
public:
    // `object` must outlive this. `path` stands before names in failures: "messages[1]".
    explicit Fields(const json::object& object, std::string path = {});

    // Each gives nothing when the field is absent or null, and when it is wrong.
    std::optional<std::string> text(std::string_view name);
    std::optional<double> number(std::string_view name, NumberRange range = {});
    std::optional<std::int64_t> integer(std::string_view name, IntegerRange range = {});
    std::optional<std::uint64_t> size(std::string_view name);  // 0 to 2^64 - 1
    std::optional<bool> flag(std::string_view name);
    const json::array* array(std::string_view name);
    const json::object* object(std::string_view name);
    const json::value* value(std::string_view name) const;  // of any type; null gives nullptr

    // As above, but absent is wrong as well.
    std::string required_text(std::string_view name);

    std::string path_of(std::string_view name) const;
    // Keeps the first failure. `param` is a whole path, `sentence` starts with what is wrong.
    void fail(std::string param, std::string sentence, ErrorCode code = ErrorCode::bad_input);
    // Takes over the failure of a reader of a part.
    void adopt(const Fields& part);
    const std::optional<Failure>& failure() const { return failure_; }

private:
    void wrong_type(std::string_view name, std::string_view wanted);

    const json::object& object_;
    std::string path_;
    std::optional<Failure> failure_;
};

}  // namespace hearth::protocol
