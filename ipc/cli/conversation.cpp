#include "ipc/cli/conversation.h"

#include <array>
#include <cstdio>
#include <iostream>

#include "ipc/cli/interrupt.h"
#include "ipc/cli/output.h"

namespace hearth::cli {
namespace {

protocol::ChatRequest request_of(const AnswerSettings& settings,
                                 const boost::json::array& messages) {
    protocol::ChatRequest request;
    request.options.model = settings.model;
    request.options.temperature = settings.temperature;
    request.options.top_p = settings.top_p;
    request.options.max_tokens = settings.max_tokens;
    request.options.seed = settings.seed;
    request.options.priority = "interactive";
    request.options.client = "hearth";
    if (!settings.system.empty()) request.messages.push_back(message("system", settings.system));
    for (const auto& entry : messages) request.messages.push_back(entry);
    return request;
}

std::string number(const char* format, double value) {
    std::array<char, 48> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, value);
    return buffer.data();
}

}  // namespace

Result<Answer> ask(client::Client& client, const AnswerSettings& settings,
                   const boost::json::array& messages, bool quiet) {
    Interrupt interrupt;
    client.set_abort_descriptor(interrupt.descriptor());
    Answer answer;
    const auto on_chunk = [&](const protocol::Reply& chunk) {
        if (!chunk.model.empty()) answer.model = chunk.model;
        if (chunk.seed) answer.seed = chunk.seed;
        if (chunk.timings) answer.timings = *chunk.timings;
        for (const protocol::Choice& choice : chunk.choices) {
            answer.text += choice.text;
            if (!choice.finish_reason.empty()) answer.finish_reason = choice.finish_reason;
            if (!quiet) std::cout << printable(choice.text) << std::flush;
        }
        return !interrupt.raised();
    };
    const auto done = client.chat(request_of(settings, messages), on_chunk);
    client.set_abort_descriptor(-1);
    answer.interrupted = interrupt.raised();
    if (!done && !answer.interrupted) return done.error();
    return answer;
}

std::string speed_line(const Answer& answer) {
    const protocol::Timings& timings = answer.timings;
    std::string line = std::to_string(timings.generated_tokens) + " tokens, " +
                       number("%.1f", timings.tokens_per_second()) + " tokens/s; prompt " +
                       std::to_string(timings.prompt_tokens) + " tokens in " +
                       number("%.2f", timings.prompt_ms / 1000.0) + " s";
    if (timings.queue_ms >= 50)
        line += "; waited " + number("%.2f", timings.queue_ms / 1000.0) + " s for the model";
    if (answer.finish_reason == "length") line += "; stopped at the token limit";
    return line;
}

boost::json::object message(std::string_view role, std::string_view content) {
    return {{"role", role}, {"content", content}};
}

}  // namespace hearth::cli
