// What `hearth status --watch` shows: a snapshot and the changes since, as lines of text.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "ipc/client/event_splitter.h"
#include "ipc/protocol/events.h"
#include "ipc/protocol/metrics.h"

namespace hearth::cli {

class WatchView {
public:
    // Events that a newer daemon may send besides are passed over.
    void apply(const client::ServerEvent& event, const boost::json::value& data);

    // At most `rows` lines of at most `columns` characters.
    std::vector<std::string> screen(std::size_t columns, std::size_t rows) const;
    // The latest event as one line; empty: nothing to say.
    const std::string& line() const { return line_; }

private:
    void take_model_state(protocol::LoadedModel model);
    void take_generation(const std::string& name, protocol::GenerationInfo info);
    void add_head(std::vector<std::string>& lines) const;
    void add_models(std::vector<std::string>& lines) const;
    void add_generations(std::vector<std::string>& lines) const;

    protocol::Snapshot state_;
    protocol::MetricsSample sample_;
    std::deque<std::string> ended_;  // the last generations, newest first
    std::string line_;
};

}  // namespace hearth::cli
