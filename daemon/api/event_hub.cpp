#include "daemon/api/event_hub.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

namespace hearth::api {
namespace {

constexpr std::chrono::seconds kKeepAlive{15};

}  // namespace

void EventHub::publish(std::string_view name, const boost::json::object& data) {
    const Change& change =
        changes_.emplace_back(Change{++last_, std::string(name), boost::json::serialize(data)});
    bytes_ += change.data.size();
    while (changes_.size() > kMaxChanges || (bytes_ > kMaxBytes && changes_.size() > 1)) {
        bytes_ -= changes_.front().data.size();
        changes_.pop_front();
    }
    for (EventSubscriber* subscriber : subscribers_)
        subscriber->on_event({change.data, change.name, change.number});
}

void EventHub::publish_sample(std::string_view name, const boost::json::object& data) {
    const std::string text = boost::json::serialize(data);
    for (EventSubscriber* subscriber : subscribers_)
        if (subscriber->wants_samples()) subscriber->on_event({text, name});
}

std::optional<std::vector<Event>> EventHub::since(std::uint64_t number) const {
    const std::uint64_t oldest = changes_.empty() ? last_ + 1 : changes_.front().number;
    if (number > last_ || number + 1 < oldest) return std::nullopt;
    std::vector<Event> events;
    for (const Change& change : changes_)
        if (change.number > number) events.push_back({change.data, change.name, change.number});
    return events;
}

Result<void> EventHub::add(EventSubscriber& subscriber) {
    if (is_over_) return Error{ErrorCode::shutting_down, "the daemon is stopping"};
    if (subscribers_.size() >= kMaxSubscribers)
        return Error{ErrorCode::busy, std::to_string(kMaxSubscribers) +
                                          " programs read events already; close one of them"};
    subscribers_.push_back(&subscriber);
    if (subscribers_.size() == 1) watch();
    return {};
}

void EventHub::remove(EventSubscriber& subscriber) {
    std::erase(subscribers_, &subscriber);
    if (subscribers_.empty()) keep_alive_->cancel();
}

bool EventHub::are_samples_wanted() const {
    return std::ranges::any_of(subscribers_, [](const auto* one) { return one->wants_samples(); });
}

void EventHub::watch() {
    keep_alive_->start(kKeepAlive, [this] {
        for (EventSubscriber* subscriber : subscribers_) subscriber->on_keep_alive();
        if (!subscribers_.empty()) watch();
    });
}

void EventHub::end() {
    is_over_ = true;
    keep_alive_->cancel();
    for (EventSubscriber* subscriber : std::exchange(subscribers_, {})) subscriber->on_end();
}

}  // namespace hearth::api
