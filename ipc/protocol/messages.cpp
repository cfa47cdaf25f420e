// Chat messages: checked and brought into the form that templates expect.
#include "ipc/protocol/parts.h"

#include <algorithm>
#include <array>

namespace hearth::protocol {
namespace {

// Kinds of parts that people know, to say which of them was sent. Nothing that a request names is
// ever fetched.
constexpr std::array<std::string_view, 9> kUnservedParts = {"image_url",   "image", "input_image",
                                                            "input_audio", "audio", "file",
                                                            "input_file",  "video", "video_url"};

void refuse_part(Fields& reader, const std::string& type) {
    const bool is_known =
        std::find(kUnservedParts.begin(), kUnservedParts.end(), type) != kUnservedParts.end();
    const std::string path = reader.path_of("type");
    reader.allow_all();
    reader.fail(path, "'" + path + "' " + (is_known ? "is \"" + type + "\", which " : "") +
                          "is not served; only \"text\" is");
}

// Text parts are joined by line ends, which is what other servers give a template that knows text
// only.
json::string join_parts(const json::array& parts, const std::string& path, Fields& fields) {
    json::string joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part_path = path + "[" + std::to_string(i) + "]";
        const json::object* part = parts[i].if_object();
        if (part == nullptr) {
            fields.fail(part_path, "'" + part_path + "' must be an object");
            return joined;
        }
        Fields reader(*part, part_path);
        const std::string type = reader.required_text("type");
        if (!reader.failure() && type != "text") refuse_part(reader, type);
        const std::string text = reader.required_text("text");
        fields.adopt(reader);
        if (i > 0) joined += '\n';
        joined += text;
    }
    return joined;
}

// Templates of the Hugging Face kind expect arguments as an object; OpenAI's API carries JSON text.
void open_arguments(json::value& call) {
    json::object* object = call.if_object();
    json::value* function = object != nullptr ? object->if_contains("function") : nullptr;
    json::object* inside = function != nullptr ? function->if_object() : nullptr;
    json::value* arguments = inside != nullptr ? inside->if_contains("arguments") : nullptr;
    const json::string* text = arguments != nullptr ? arguments->if_string() : nullptr;
    if (text == nullptr) return;
    if (auto parsed = parse_json(*text); parsed && parsed->is_object()) *arguments = *parsed;
}

void read_tool_calls(Fields& reader, json::object& message) {
    if (reader.array("tool_calls") == nullptr) return;
    json::array& calls = message["tool_calls"].as_array();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const std::string path = reader.path_of("tool_calls") + "[" + std::to_string(i) + "]";
        if (!calls[i].is_object()) return reader.fail(path, "'" + path + "' must be an object");
        open_arguments(calls[i]);
    }
}

json::object read_message(const json::object& given, const std::string& path, Fields& fields) {
    json::object message = given;
    Fields reader(given, path);
    reader.allow_all();  // the template sees the whole message
    if (reader.required_text("role").empty())
        reader.fail(path + ".role", "'" + path + ".role' is empty");
    read_tool_calls(reader, message);
    const json::value* content = reader.value("content");
    if (content == nullptr) {
        // Without content there must be a call; elsewhere it is a mistake that would go unseen.
        if (reader.value("tool_calls") == nullptr)
            reader.fail(path + ".content", "'" + path + ".content' is missing");
        // Many templates join the content to other text, which null cannot be; those that ask
        // whether there is any take empty text for none.
        message["content"] = "";
    } else if (const json::array* parts = content->if_array()) {
        message["content"] = join_parts(*parts, path + ".content", reader);
    } else if (!content->is_string()) {
        reader.fail(path + ".content",
                    "'" + path + ".content' must be a string or a list of text parts");
    }
    fields.adopt(reader);
    return message;
}

}  // namespace

json::array read_messages(Fields& fields) {
    json::array messages;
    const json::array* given = fields.array("messages");
    if (given == nullptr || given->empty()) {
        fields.fail("messages", "'messages' must be a list with at least one message");
        return messages;
    }
    for (std::size_t i = 0; i < given->size() && !fields.failure(); ++i) {
        const std::string path = "messages[" + std::to_string(i) + "]";
        if (const json::object* message = (*given)[i].if_object())
            messages.emplace_back(read_message(*message, path, fields));
        else
            fields.fail(path, "'" + path + "' must be an object");
    }
    return messages;
}

}  // namespace hearth::protocol
