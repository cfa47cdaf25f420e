// Server-sent events: bytes in any cut → events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::client {

struct ServerEvent {
    std::string data;  // several data lines are joined by line ends
    std::string name;  // empty: the event has none
    std::string id;    // likewise
};

class EventSplitter {
public:
    // Every event that is now complete, in order; comments and other fields are skipped.
    std::vector<ServerEvent> feed(std::string_view bytes);

private:
    void take_line(std::string_view line, std::vector<ServerEvent>& events);

    std::string rest_;  // the line that is still open
    ServerEvent event_;
    bool has_data_ = false;
};

}  // namespace hearth::client
