// Reads typed fields out of a JSON object that somebody else wrote. The first thing that is wrong
// is kept as a Failure that names the field, and every later read gives a default: so a request is
// read in one go and checked once at the end (see read_options in generation_options.cpp). Names
// that nobody asked for are unknown fields, which are not an error.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "ipc/protocol/failure.h"

namespace hearth::protocol {

// One JSON text, at most kMaxJsonDepth deep, in which no object has a name twice and no number is
// beyond a double. bad_input says where it breaks, invalid_utf8 at which byte; neither quotes the
// text. "\u0000" is kept; an escape that is half a surrogate pair is an error.
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
    const json::value* value(std::string_view name);  // of any type; null gives nullptr

    // As above, but absent is wrong as well.
    std::string required_text(std::string_view name);

    std::string path_of(std::string_view name) const;
    // Keeps the first failure. `param` is a whole path, `sentence` starts with what is wrong.
    void fail(std::string param, std::string sentence, ErrorCode code = ErrorCode::bad_input);
    // Takes over the failure and the unknown names of a reader of a part, which has read it all.
    void adopt(const Fields& part);
    const std::optional<Failure>& failure() const { return failure_; }

    // Names that are known though they change nothing here; or all, where the object is passed on.
    void allow(std::initializer_list<std::string_view> names);
    void allow_all();
    // Paths of what was neither read nor allowed, at most kMaxUnknown of this object and its parts.
    std::vector<std::string> unknown() const;
    static constexpr std::size_t kMaxUnknown = 64;

private:
    void wrong_type(std::string_view name, std::string_view wanted);

    const json::object& object_;
    std::string path_;
    std::optional<Failure> failure_;
    std::vector<bool> known_;  // by place in the object
    std::vector<std::string> unknown_in_parts_;
};

}  // namespace hearth::protocol
