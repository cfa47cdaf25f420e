#include "daemon/app/redact.h"

#include <algorithm>
#include <array>

namespace hearth::app {
namespace {

// Our tokens are longer than this after their prefix; "hearth-worker" and names of folders are not.
constexpr std::size_t kShortestToken = 20;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word(char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_';
}

// Base64, and what else RFC 6750 allows in a bearer token.
bool is_credential(char c) {
    return is_word(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

bool starts_with_word(std::string_view text, std::string_view word) {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(),
                      [](char wanted, char given) { return wanted == lower(given); });
}

template <typename Is>
std::size_t run_of(std::string_view text, Is is) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

// What stands before a secret, and how long that must be to be one.
struct Mark {
    std::string_view word;
    std::size_t shortest;
    bool (*is_secret)(char);
};
constexpr std::array<Mark, 5> kMarks = {{{"bearer ", 1, is_credential},
                                         {"bearer%20", 1, is_credential},
                                         {"basic ", 8, is_credential},
                                         {"hearth-", kShortestToken, is_word},
                                         {"sk-", kShortestToken, is_word}}};

// The length of the mark at the start of `rest` when a secret follows it, else 0.
std::size_t mark_at(std::string_view rest, std::size_t& secret) {
    for (const Mark& mark : kMarks) {
        if (!starts_with_word(rest, mark.word)) continue;
        std::string_view after = rest.substr(mark.word.size());
        const std::size_t spaces = run_of(after, [](char c) { return c == ' '; });
        after.remove_prefix(spaces);
        secret = run_of(after, mark.is_secret);
        if (secret >= mark.shortest) return mark.word.size() + spaces;
    }
    return 0;
}

}  // namespace

std::string redacted(std::string_view line) {
    std::string out;
    bool in_word = false;  // a mark stands at the beginning of a word
    for (std::size_t at = 0; at < line.size();) {
        std::size_t secret = 0;
        const std::size_t mark = in_word ? 0 : mark_at(line.substr(at), secret);
        if (mark == 0) {
            in_word = is_word(line[at]);
            out += line[at++];
            continue;
        }
        out += line.substr(at, mark);
        out += kRedacted;
        at += mark + secret;
        in_word = true;
    }
    return out;
}

}  // namespace hearth::app
