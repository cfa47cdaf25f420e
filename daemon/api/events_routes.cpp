// GET /hearth/v1/events: a snapshot, then changes. A reader that does not keep up loses changes and
// gets another snapshot when it has read what it had; nobody waits for it.
#include <boost/json/serialize.hpp>
#include <charconv>
#include <optional>

#include "daemon/api/failure_reply.h"
#include "daemon/api/query.h"
#include "daemon/api/routes.h"
#include "daemon/api/status_parts.h"
#include "ipc/protocol/events.h"

namespace hearth::api {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

struct Wishes {
    bool samples = false;
    std::optional<std::uint64_t> after;  // the last change that the reader knows
};

std::variant<Wishes, protocol::Failure> read_wishes(const Request& request) {
    const auto wrong = [](const char* param, const char* sentence) {
        return protocol::Failure{{ErrorCode::bad_input, sentence}, param};
    };
    Wishes wishes;
    if (const auto samples = query_value(request.query, "metrics")) {
        if (*samples != "0" && *samples != "1") return wrong("metrics", "'metrics' must be 0 or 1");
        wishes.samples = *samples == "1";
    }
    if (const auto after = query_value(request.query, "after")) {
        wishes.after = number_in(*after);
        if (!wishes.after) return wrong("after", "'after' must be the number of an event");
    }
    // Set by the reader's library, not by a person: what is no number of ours means "from the
    // beginning".
    if (!wishes.after) wishes.after = number_in(request.last_event_id);
    return wishes;
}

class EventsActivity final : public Activity, public EventSubscriber {
public:
    EventsActivity(Services& services, bool samples, ReplyStream& stream)
        : services_(services), stream_(stream), samples_(samples) {}
    ~EventsActivity() override { services_.telemetry.events().remove(*this); }
    EventsActivity(const EventsActivity&) = delete;
    EventsActivity& operator=(const EventsActivity&) = delete;

    void begin(std::optional<std::uint64_t> after) {
        stream_.begin_events();
        if (samples_) services_.telemetry.sampler().wake();
        const auto missed = after ? services_.telemetry.events().since(*after)
                                  : std::optional<std::vector<Event>>();
        if (!missed) return ask_for_snapshot();
        for (const Event& event : *missed) stream_.send(event);
        if (missed->empty()) stream_.send_comment("nothing has changed");
    }

    bool wants_samples() const override { return samples_; }
    void on_event(const Event& event) override {
        if (is_behind_) return;  // the snapshot that comes has it
        if (!is_full()) return stream_.send(event);
        if (event.id != 0) is_behind_ = true;
    }
    void on_keep_alive() override {
        if (stream_.queued_bytes() == 0) stream_.send_comment("keep-alive");
    }
    void on_end() override {
        is_over_ = true;
        stream_.end_events();
    }
    void on_room() override {
        if (is_behind_ && !is_asking_ && !is_over_) ask_for_snapshot();
    }

private:
    bool is_full() const { return stream_.queued_bytes() >= ReplyStream::kQueueLimit; }

    void ask_for_snapshot() {
        is_behind_ = is_asking_ = true;
        services_.supervisor.list(
            lifeline_.guard([this](const std::vector<supervise::LoadedModel>& models) {
                is_asking_ = false;
                if (!is_over_) send_snapshot(models);
            }));
    }

    // What it holds is of this moment, and so is its number.
    void send_snapshot(const std::vector<supervise::LoadedModel>& models) {
        protocol::Snapshot snapshot;
        snapshot.status = own_status(services_);
        for (const auto& model : models) snapshot.status.models.push_back(describe(model));
        const library::Library& library = services_.library.library();
        for (const library::Package& package : library.packages())
            snapshot.models.push_back(entry_for(library, services_.supervisor, package));
        snapshot.generations = services_.telemetry.generations();
        snapshot.imports = services_.telemetry.imports();
        is_behind_ = false;
        stream_.send(Event{boost::json::serialize(to_json(snapshot)), protocol::events::kSnapshot,
                           services_.telemetry.events().last()});
    }

    Services& services_;
    ReplyStream& stream_;
    bool samples_;
    bool is_behind_ = false;  // changes were lost, or a snapshot has not come yet
    bool is_asking_ = false;
    bool is_over_ = false;
    Lifeline lifeline_;
};

}  // namespace

ActivityPtr events(Services& services, const Request& request, ReplyStream& stream) {
    const auto read = read_wishes(request);
    if (const auto* failure = std::get_if<protocol::Failure>(&read)) {
        stream.send(failure_reply(*failure));
        return nullptr;
    }
    const auto& wishes = std::get<Wishes>(read);
    auto activity = std::make_unique<EventsActivity>(services, wishes.samples, stream);
    if (const auto added = services.telemetry.events().add(*activity); !added) {
        stream.send(failure_reply(added.error()));
        return nullptr;
    }
    activity->begin(wishes.after);
    return activity;
}

}  // namespace hearth::api
