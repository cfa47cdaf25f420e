// JSON text → value. Stricter than Boost.JSON's own reader: a name that stands twice in an object
// and a number beyond a double's range are errors, for two readers of such a text may disagree.
#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <cmath>
#include <vector>

#include "engine/base/utf8.h"
#include "ipc/protocol/fields.h"
#include "ipc/protocol/version.h"

namespace hearth::protocol {
namespace {

using Code = json::error_code;
using Text = json::string_view;

// Called by the parser, whose names these are. Builds the value.
class Builder {
public:
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    bool on_document_begin(Code&) {
        stack_.reset();
        return true;
    }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code&) {
        first_names_.push_back(names_.size());
        return true;
    }
    bool on_object_end(std::size_t count, Code& problem) {
        const auto first = names_.begin() + static_cast<std::ptrdiff_t>(first_names_.back());
        std::sort(first, names_.end());
        if (std::adjacent_find(first, names_.end()) != names_.end()) {
            complaint_ = "an object in it has the same name twice";
            problem = json::error::extra_data;
            return false;
        }
        names_.erase(first, names_.end());
        first_names_.pop_back();
        stack_.push_object(count);
        return true;
    }
    bool on_array_begin(Code&) { return true; }
    bool on_array_end(std::size_t count, Code&) {
        stack_.push_array(count);
        return true;
    }
    bool on_key_part(Text part, std::size_t, Code&) {
        name_ += part;
        stack_.push_chars(part);
        return true;
    }
    bool on_key(Text part, std::size_t, Code&) {
        name_ += part;
        names_.push_back(std::exchange(name_, {}));
        stack_.push_key(part);
        return true;
    }
    bool on_string_part(Text part, std::size_t, Code&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(Text part, std::size_t, Code&) {
        stack_.push_string(part);
        return true;
    }
    bool on_number_part(Text, Code&) { return true; }
    bool on_int64(std::int64_t number, Text, Code&) {
        stack_.push_int64(number);
        return true;
    }
    bool on_uint64(std::uint64_t number, Text, Code&) {
        stack_.push_uint64(number);
        return true;
    }
    bool on_double(double number, Text, Code& problem) {
        if (!std::isfinite(number)) {
            complaint_ = "a number in it is too large";
            problem = json::error::exponent_overflow;
            return false;
        }
        stack_.push_double(number);
        return true;
    }
    bool on_bool(bool value, Code&) {
        stack_.push_bool(value);
        return true;
    }
    bool on_null(Code&) {
        stack_.push_null();
        return true;
    }
    bool on_comment_part(Text, Code&) { return true; }
    bool on_comment(Text, Code&) { return true; }

    json::value release() { return stack_.release(); }
    const std::string& complaint() const { return complaint_; }

private:
    json::value_stack stack_;
    std::string name_;
    std::vector<std::string> names_;        // of the objects that are open
    std::vector<std::size_t> first_names_;  // of each open object
    std::string complaint_;
};

}  // namespace

Result<json::value> parse_json(std::string_view text) {
    if (const auto at = find_utf8_error(text))
        return Error{ErrorCode::invalid_utf8,
                     "the body is not UTF-8: byte " + std::to_string(*at) + " is wrong"};
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    json::basic_parser<Builder> parser(options);
    Code problem;
    std::size_t read = parser.write_some(false, text.data(), text.size(), problem);
    if (!problem && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
        problem = json::error::extra_data;
    if (!problem && !parser.done()) problem = json::error::incomplete;
    if (!problem) return parser.handler().release();
    if (problem == json::error::too_deep)
        return Error{ErrorCode::bad_input, "the body is JSON nested deeper than " +
                                               std::to_string(kMaxJsonDepth) + " levels"};
    std::string reason = parser.handler().complaint();
    if (reason.empty()) reason = problem.message();
    return Error{ErrorCode::bad_input,
                 "the body is not JSON: " + reason + ", near byte " + std::to_string(read)};
}

}  // namespace hearth::protocol
