// Server-sent events: bytes in any cut → the data of each event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::client {

class EventSplitter {
public:
    // The data of every event that is now complete, in order. Several data lines of one event are
    // joined by line ends; comments and other fields are skipped.
    std::vector<std::string> feed(std::string_view bytes);

private:
    void take_line(std::string_view line, std::vector<std::string>& events);

    std::string rest_;  // the line that is still open
    std::string data_;
    bool has_data_ = false;
};

}  // namespace hearth::client
