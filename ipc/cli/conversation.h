// One exchange with a model, streamed to the terminal, as `run` and `chat` share it.
#pragma once

#include <boost/json/array.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "ipc/client/client.h"

namespace hearth::cli {

struct AnswerSettings {
    std::string model;  // empty: the daemon's default
    std::string system;
    double temperature = 0.5;
    double top_p = 0.9;
    int max_tokens = -1;
    std::optional<std::uint64_t> seed;
};

struct Answer {
    std::string text;
    bool interrupted = false;  // by Ctrl-C
    std::string finish_reason;
    protocol::Timings timings;
    std::string model;
    std::optional<std::uint64_t> seed;
};

// Asks and, unless `quiet`, writes the text to the standard output as it comes. Ctrl-C ends the
// answer, not the program.
Result<Answer> ask(client::Client& client, const AnswerSettings& settings,
                   const boost::json::array& messages, bool quiet = false);

// "124 tokens, 81.3 tokens/s; prompt 42 tokens in 0.11 s"
std::string speed_line(const Answer& answer);

boost::json::object message(std::string_view role, std::string_view content);

}  // namespace hearth::cli
