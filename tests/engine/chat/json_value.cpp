// See json_value.h.
#include "tests/engine/chat/json_value.h"

#include <fstream>
#include <sstream>

namespace hearth::chat {

std::string read_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    return text.str();
}

boost::json::value parse_json(const std::string& text) { return boost::json::parse(text); }

Value to_value(const boost::json::value& json) {
    switch (json.kind()) {
        case boost::json::kind::null:
            return Value::none();
        case boost::json::kind::bool_:
            return Value::boolean(json.get_bool());
        case boost::json::kind::int64:
            return Value::integer(json.get_int64());
        case boost::json::kind::uint64:
            return Value::real(static_cast<double>(json.get_uint64()));
        case boost::json::kind::double_:
            return Value::real(json.get_double());
        case boost::json::kind::string:
            return Value::string(json.get_string());
        case boost::json::kind::array: {
            std::vector<Value> items;
            for (const auto& item : json.get_array()) items.push_back(to_value(item));
            return Value::list(std::move(items));
        }
        case boost::json::kind::object:
            break;
    }
    std::vector<Member> members;
    for (const auto& [key, value] : json.get_object()) members.push_back({key, to_value(value)});
    return Value::object(std::move(members));
}

}  // namespace hearth::chat
