#include "ipc/client/event_splitter.h"

namespace hearth::client {

std::vector<std::string> EventSplitter::feed(std::string_view bytes) {
    std::vector<std::string> events;
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

void EventSplitter::take_line(std::string_view line, std::vector<std::string>& events) {
    if (line.empty()) {
        if (has_data_) events.push_back(std::move(data_));
        data_.clear();
        has_data_ = false;
        return;
    }
    constexpr std::string_view kField = "data:";
    if (line.substr(0, kField.size()) != kField) return;
    line.remove_prefix(kField.size());
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += line;
    has_data_ = true;
}

}  // namespace hearth::client
