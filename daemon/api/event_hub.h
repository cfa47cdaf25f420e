// Numbers changes, remembers the last ones, and passes them to subscribers. Thread "hearth-net".
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/reply.h"
#include "daemon/api/timer.h"
#include "engine/base/result.h"

namespace hearth::api {

class EventSubscriber {
public:
    virtual ~EventSubscriber() = default;
    virtual bool wants_samples() const = 0;
    virtual void on_event(const Event& event) = 0;
    virtual void on_keep_alive() = 0;
    virtual void on_end() = 0;  // no event comes any more
};

class EventHub {
public:
    static constexpr std::size_t kMaxSubscribers = 32;
    static constexpr std::size_t kMaxChanges = 1024;
    static constexpr std::size_t kMaxBytes = 256UL << 10U;  // of their data

    // The first change gets the number after `number`.
    EventHub(std::uint64_t number, std::unique_ptr<Timer> keep_alive)
        : last_(number), keep_alive_(std::move(keep_alive)) {}

    void publish(std::string_view name, const boost::json::object& data);
    // To those who want samples; without a number, and forgotten at once.
    void publish_sample(std::string_view name, const boost::json::object& data);

    std::uint64_t last() const { return last_; }
    // The changes after one; nothing when they are forgotten, or `number` was never given.
    std::optional<std::vector<Event>> since(std::uint64_t number) const;

    // busy or shutting_down.
    Result<void> add(EventSubscriber& subscriber);
    void remove(EventSubscriber& subscriber);
    std::size_t subscribers() const { return subscribers_.size(); }
    bool are_samples_wanted() const;

    void end();  // for all; none comes after it

private:
    struct Change {
        std::uint64_t number;
        std::string name;
        std::string data;
    };

    void watch();

    std::uint64_t last_;
    std::deque<Change> changes_;
    std::size_t bytes_ = 0;
    std::vector<EventSubscriber*> subscribers_;
    std::unique_ptr<Timer> keep_alive_;
    bool is_over_ = false;
};

}  // namespace hearth::api
