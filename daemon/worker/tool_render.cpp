// `render`: a chat template and the variables it sees, to the prompt text.
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "daemon/worker/convert.h"
#include "daemon/worker/sandbox.h"
#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "engine/chat/template.h"
#include "engine/generate/prompt.h"

namespace hearth::worker {
namespace {

struct Render {
    std::string chat_template;
    std::string input;
    std::string now;
};

// The model's own marks are trusted, as they are in the engine; all else comes from outside.
chat::Value variables_of(const boost::json::object& input) {
    std::vector<chat::Member> members;
    for (const auto& member : input) {
        const bool is_mark = member.key() == "bos_token" || member.key() == "eos_token";
        members.push_back({std::string(member.key()),
                           to_chat_value(member.value(),
                                         is_mark ? chat::Origin::trusted : chat::Origin::foreign)});
    }
    return chat::Value::object(std::move(members));
}

Result<std::string> render(const Render& options) {
    HEARTH_TRY(const std::string source, read_text(options.chat_template));
    HEARTH_TRY(const std::string input_text, read_text(options.input));
    HEARTH_TRY_VOID(enter_sandbox());
    HEARTH_TRY(const boost::json::value input, parse_json(input_text, options.input));
    if (!input.is_object()) {
        return Error{ErrorCode::bad_input, options.input + " is not a JSON object"};
    }
    chat::RenderOptions render_options{.now = generate::local_time(), .limits = {}};
    if (!options.now.empty()) {
        HEARTH_TRY(render_options.now, chat::LocalTime::parse(options.now));
    }
    HEARTH_TRY(const chat::Template chat_template, chat::Template::parse(source));
    HEARTH_TRY(MarkedText text,
               chat_template.render(variables_of(input.get_object()), render_options));
    return std::move(text.text);
}

}  // namespace

void add_render(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("render", "A chat template and its input to the prompt");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Render>();
    tool->add_option("TEMPLATE", options->chat_template, "a Jinja template")->required();
    tool->add_option("INPUT", options->input, "JSON with the names that the template sees")
        ->required();
    tool->add_option("--now", options->now, "the local time it sees, 2026-01-15T12:00:00");
    tool->callback([options, &exit_code] {
        const auto output = render(*options);
        exit_code = !output ? fail(output.error()) : print(*output) ? 0 : 1;
    });
}

}  // namespace hearth::worker
