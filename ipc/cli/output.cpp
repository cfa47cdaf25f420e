#include "ipc/cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <iostream>

namespace hearth::cli {
namespace {

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string with_one_decimal(double value, std::string_view unit) {
    std::array<char, 48> buffer{};
    std::snprintf(buffer.data(), buffer.size(), value < 10 ? "%.2f" : "%.1f", value);
    return std::string(buffer.data()) + ' ' + std::string(unit);
}

std::string row_line(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                     const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string padding(widths[i] - width_of(cells[i]), ' ');
        line += columns[i].is_number ? padding + cells[i] : cells[i] + padding;
        line += "   ";
    }
    line.resize(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

void print_table(const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows) {
    for (const std::string& line : table_lines(columns, rows)) std::cout << line << '\n';
}

std::vector<std::string> table_lines(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    std::vector<std::string> titles;
    for (const Column& column : columns) {
        titles.push_back(column.title);
        widths.push_back(width_of(column.title));
    }
    for (const auto& row : rows)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::vector<std::string> lines = {row_line(columns, widths, titles)};
    for (const auto& row : rows) lines.push_back(row_line(columns, widths, row));
    return lines;
}

std::string human_size(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
    return unit == 0 ? std::to_string(bytes) + " B" : with_one_decimal(value, kUnits[unit]);
}

std::string human_count(std::uint64_t count) {
    const auto value = static_cast<double>(count);
    if (count >= 1'000'000'000) return with_one_decimal(value / 1e9, "B");
    if (count >= 1'000'000) return with_one_decimal(value / 1e6, "M");
    if (count >= 1'000) return with_one_decimal(value / 1e3, "k");
    return std::to_string(count);
}

std::string human_seconds(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds);
    if (whole >= 86400)
        return std::to_string(whole / 86400) + " d " + std::to_string(whole % 86400 / 3600) + " h";
    if (whole >= 3600)
        return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
    if (whole >= 60)
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole) + " s";
}

void print_json(const boost::json::value& value) {
    std::cout << boost::json::serialize(value) << '\n';
}

void print_error(const Error& error) { std::cerr << "error: " << printable(error.message) << '\n'; }

std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool is_c1 = byte == 0xC2U && i + 1 < text.size() &&
                           static_cast<unsigned char>(text[i + 1]) < 0xA0U;  // U+0080 to U+009F
        const unsigned char shown = is_c1 ? static_cast<unsigned char>(text[i + 1]) : byte;
        const bool is_control =
            is_c1 || byte == 0x7FU || (byte < 0x20U && byte != '\n' && byte != '\t');
        if (!is_control) {
            out += text[i];
            continue;
        }
        out += "\\x";
        out += kHex[shown >> 4U];
        out += kHex[shown & 15U];
        if (is_c1) ++i;
    }
    return out;
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

}  // namespace hearth::cli
