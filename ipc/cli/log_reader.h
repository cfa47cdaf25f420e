// Reads the files that hearthd logs to, whether it runs or not: hearthd.log, and hearthd.1.log to
// hearthd.4.log, the older the higher.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

// Whether a line is as important as `level` ("debug", "info", "warning", "error") or more. Lines
// without a level are.
bool has_level(std::string_view line, std::string_view level);

class LogReader {
public:
    LogReader(std::string folder, std::string level);
    ~LogReader();
    LogReader(const LogReader&) = delete;
    LogReader& operator=(const LogReader&) = delete;

    bool has_files() const;
    // The last `count` lines, oldest first. What comes after them, more() gives.
    std::vector<std::string> last(std::size_t count);
    // Lines that were written since the last call, also over a change of files.
    std::vector<std::string> more();

private:
    std::string path(int number) const;
    void open_current();
    void read_rest(std::vector<std::string>& lines);
    bool is_replaced() const;
    void take(std::string_view bytes, std::vector<std::string>& lines);

    std::string folder_;
    std::string level_;
    int current_ = -1;     // hearthd.log, read to its end
    std::string started_;  // a line of which only the beginning has been written
};

}  // namespace hearth::cli
