// Finds stop strings in a stream of text pieces. Text that could still become a stop string is held
// back; nothing else is. The result depends on the joined text only, not on how it was cut into
// pieces.
//
// Which stop wins: the one that ends first; of those that end at the same byte, the longest. Each
// byte costs one step of Knuth-Morris-Pratt per stop string, so time is linear in the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

class StopMatcher {
public:
    struct Output {
        std::string text;  // safe to show: no later text can turn it into a part of a stop string
        std::optional<std::size_t>
            stop;  // index of the stop string that matched; the stream is over
    };

    // Empty stop strings never match. Stops that are valid UTF-8 never cut a character of valid
    // text.
    explicit StopMatcher(std::vector<std::string> stops = {});

    // After a match: always empty text and the same stop.
    Output push(std::string_view text);
    // The stream ended: gives what was held back. Empty after a match.
    std::string flush();
    bool stopped() const { return stopped_.has_value(); }

private:
    struct Pattern {
        std::string text;
        std::vector<std::size_t> border;  // [i]: length of the longest proper border of text[0, i)
        std::size_t matched = 0;  // the last `matched` bytes of the stream are text[0, matched)
    };
    // Consumes one byte; returns the longest length matched by any pattern.
    std::size_t step(char byte);

    std::vector<Pattern> patterns_;
    std::string held_;  // the last bytes of the stream, which begin some stop string
    std::optional<std::size_t> stopped_;
};

}  // namespace hearth::text
