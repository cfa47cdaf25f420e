// Numbers as Python reads and rounds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::chat {

// int(text, base): white space around, a sign, underscores, prefixes when the base is 0 or theirs.
std::optional<std::int64_t> read_integer(std::string_view text, int base);
// float(text), "inf" and "nan" included.
std::optional<double> read_real(std::string_view text);
// round(real, digits): correct in decimal, ties to even.
double round_real(double real, std::int64_t digits);
// "%.2f": at most 100 digits after the point.
std::string fixed(double real, int digits);

}  // namespace hearth::chat
