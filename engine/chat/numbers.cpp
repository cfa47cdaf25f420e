// Reading and rounding numbers; see numbers.h.
#include "engine/chat/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/chat/characters.h"

namespace hearth::chat {
namespace {

std::string_view stripped(std::string_view text) {
    const Span kept = strip_spaces(text);
    return text.substr(kept.begin, kept.end - kept.begin);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes out single underscores between digits; empty when one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '_') {
            out.push_back(text[at]);
            continue;
        }
        const bool is_inside = at > 0 && at + 1 < text.size() && text[at - 1] != '_' &&
                               std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 &&
                               std::isalnum(static_cast<unsigned char>(text[at + 1])) != 0;
        if (!is_inside) return std::nullopt;
    }
    return out;
}

// Takes "0x", "0o" or "0b" off where the base allows it; sets the base when it was 0.
void take_prefix(std::string& digits, int& base) {
    const char mark =
        digits.size() > 2 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : '\0';
    const int prefix = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
        digits.erase(0, 2);
        base = prefix;
    }
    if (base == 0) base = 10;
}

}  // namespace

std::optional<std::int64_t> read_integer(std::string_view text, int base) {
    const auto clean = without_underscores(stripped(text));
    if (!clean || clean->empty() || base < 0 || base == 1 || base > 36) return std::nullopt;
    std::string digits = *clean;
    const bool is_negative = digits[0] == '-';
    if (is_negative || digits[0] == '+') digits.erase(0, 1);
    take_prefix(digits, base);
    if (digits.empty() || digits[0] == '-') return std::nullopt;
    if (is_negative) digits = '-' + digits;
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value, base);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return value;
}

std::optional<double> read_real(std::string_view text) {
    const auto clean = without_underscores(stripped(text));
    if (!clean || clean->empty()) return std::nullopt;
    std::string digits = *clean;
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    const bool is_negative = digits[0] == '-';
    if (digits[0] == '-' || digits[0] == '+') digits.erase(0, 1);
    if (digits.empty()) return std::nullopt;
    const double sign = is_negative ? -1.0 : 1.0;
    if (digits == "inf" || digits == "infinity") return sign * INFINITY;
    if (digits == "nan") return NAN;
    if (!is_digit(digits[0]) && digits[0] != '.') return std::nullopt;
    double value = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ptr != end) return std::nullopt;
    if (read.ec == std::errc::result_out_of_range) {
        // Too large or too small; the sign of the exponent tells.
        const bool is_small = digits.find("e-") != std::string::npos || digits[0] == '0';
        return sign * (is_small ? 0.0 : INFINITY);
    }
    if (read.ec != std::errc()) return std::nullopt;
    return sign * value;
}

std::string fixed(double real, int digits) {
    if (std::isnan(real)) return "nan";
    if (std::isinf(real)) return real < 0 ? "-inf" : "inf";
    // The largest double has 309 digits before the point.
    std::array<char, 420> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real,
                                       std::chars_format::fixed, std::clamp(digits, 0, 100));
    return {buffer.data(), written.ptr};
}

double round_real(double real, std::int64_t digits) {
    if (!std::isfinite(real)) return real;
    // A double has no more than 17 significant digits, and 308 before the point.
    if (digits > 330) return real;
    if (digits < -310) return 0.0 * real;
    if (digits < 0) {
        const double scale = std::pow(10.0, static_cast<double>(-digits));
        return std::nearbyint(real / scale) * scale;
    }
    if (digits > 100) return real;
    const std::string text = fixed(real, static_cast<int>(digits));
    double rounded = real;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
}

}  // namespace hearth::chat
