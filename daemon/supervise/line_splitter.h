// Cuts what a worker writes to its error stream into lines that are fit for a log: printable UTF-8,
// at most 1000 bytes, and not more of them than a person could want.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::supervise {

class LineSplitter {
public:
    explicit LineSplitter(std::function<void(std::string_view)> on_line)
        : on_line_(std::move(on_line)) {}

    void feed(std::string_view bytes);
    void finish();  // gives out an unfinished line

private:
    void give();

    std::function<void(std::string_view)> on_line_;
    std::string line_;
    int lines_ = 0;
};

}  // namespace hearth::supervise
