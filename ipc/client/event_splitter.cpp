#include "ipc/client/event_splitter.h"

#include <algorithm>
#include <utility>

namespace hearth::client {

std::vector<ServerEvent> EventSplitter::feed(std::string_view bytes) {
    std::vector<ServerEvent> events;
    rest_ += bytes;
    std::size_t start = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos;
         end = rest_.find('\n', start)) {
        std::string_view line = std::string_view(rest_).substr(start, end - start);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        take_line(line, events);
        start = end + 1;
    }
    rest_.erase(0, start);
    return events;
}

void EventSplitter::take_line(std::string_view line, std::vector<ServerEvent>& events) {
    if (line.empty()) {
        if (has_data_) events.push_back(std::move(event_));
        event_ = {};
        has_data_ = false;
        return;
    }
    const std::string_view field = line.substr(0, line.find(':'));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (field == "event") event_.name = line;
    if (field == "id") event_.id = line;
    if (field != "data") return;
    if (has_data_) event_.data += '\n';
    event_.data += line;
    has_data_ = true;
}

}  // namespace hearth::client
