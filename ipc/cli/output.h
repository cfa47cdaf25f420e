// How the command line shows things to people: tables, sizes, durations, errors.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace hearth::cli {

struct Column {
    std::string title;
    bool is_number = false;  // set to the right
};

// Rows under their titles, columns as wide as their widest cell (in characters, not bytes).
std::vector<std::string> table_lines(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows);
void print_table(const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows);

std::string human_size(std::uint64_t bytes);   // "98.4 MB", powers of 1000 as disks are sold
std::string human_count(std::uint64_t count);  // "134.5 M"
std::string human_seconds(double seconds);     // "3 min 20 s"

void print_json(const boost::json::value& value);

// "error: …" on the error stream; the sentence already says what to try.
void print_error(const Error& error);

// Control characters other than newline and tab are made visible, so that what a model or a file
// name says cannot drive the terminal.
std::string printable(std::string_view text);

bool is_terminal(int descriptor);

}  // namespace hearth::cli
