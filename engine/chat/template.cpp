// The door of the folder: parse and render, with failures turned into Errors; see template.h.
#include "engine/chat/template.h"

#include <algorithm>
#include <new>
#include <string>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"
#include "engine/chat/parser.h"

namespace hearth::chat {
namespace {

// A template's own message may quote the conversation; more than this helps nobody.
constexpr std::size_t kMessageCharacters = 200;

Error error_of(const Failure& failure, int line) {
    std::string message = "chat template";
    if (const int at = failure.line > 0 ? failure.line : line; at > 0)
        message += ", line " + std::to_string(at);
    message += ": ";
    const std::string_view kept = first_characters(failure.message, kMessageCharacters);
    message += kept;
    if (kept.size() < failure.message.size()) message += "…";
    return {failure.code, std::move(message)};
}

Error memory_error() {
    return {ErrorCode::no_memory, "chat template: there is not enough memory to work with it"};
}

// Newlines as Jinja2 sees them, without the last one.
std::string normalized(std::string_view source) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (source.substr(0, kByteOrderMark.size()) == kByteOrderMark)
        source.remove_prefix(kByteOrderMark.size());
    std::string out;
    out.reserve(source.size());
    for (std::size_t at = 0; at < source.size(); ++at) {
        if (source[at] != '\r') {
            out.push_back(source[at]);
            continue;
        }
        out.push_back('\n');
        if (at + 1 < source.size() && source[at + 1] == '\n') ++at;
    }
    if (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
}

MarkedText marked_text(MarkedString text) {
    MarkedText marked;
    marked.trusted.reserve(text.size());
    text.for_runs(0, text.size(), [&marked](std::string_view bytes, bool trusted) {
        marked.trusted.append(bytes.size(), trusted ? '\1' : '\0');
    });
    marked.text = std::move(text).take_bytes();
    return marked;
}

}  // namespace

Template::Template(std::unique_ptr<const Tree> tree) : tree_(std::move(tree)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view source, const Limits& limits) {
    if (source.size() > limits.source_bytes)
        return Error{ErrorCode::too_large,
                     "the chat template has " + std::to_string(source.size()) +
                         " bytes, more than the limit of " + std::to_string(limits.source_bytes)};
    if (!is_valid_utf8(source))
        return Error{ErrorCode::invalid_utf8, "the chat template is not UTF-8"};
    try {
        const std::string text = normalized(source);
        return Template(Parser(text, limits).parse());
    } catch (const Failure& failure) {
        return error_of(failure, 0);
    } catch (const std::bad_alloc&) {
        return memory_error();
    }
}

Result<MarkedText> Template::render(const Value& variables, const RenderOptions& options) const {
    if (variables.kind() != Kind::object)
        return Error{ErrorCode::bad_input, "the variables of a chat template must be an object"};
    int line = 0;
    try {
        Machine machine(*tree_, options);
        try {
            return marked_text(machine.run(variables));
        } catch (...) {
            line = machine.line();
            throw;
        }
    } catch (const Failure& failure) {
        return error_of(failure, line);
    } catch (const std::bad_alloc&) {
        return memory_error();
    }
}

bool Template::uses(std::string_view name) const {
    const auto found = std::find(tree_->symbols.begin(), tree_->symbols.end(), name);
    if (found == tree_->symbols.end()) return false;
    return tree_->is_read[static_cast<std::size_t>(found - tree_->symbols.begin())];
}

}  // namespace hearth::chat
