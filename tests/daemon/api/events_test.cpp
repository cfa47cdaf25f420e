// The event stream, the history and the counters of a real daemon.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>

#include "ipc/client/event_splitter.h"
#include "ipc/protocol/events.h"
#include "ipc/protocol/metrics.h"
#include "tests/daemon/api/fake_model.h"
#include "tests/daemon/metrics/prometheus_parser.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

// A reader of events on a connection of its own.
class Reader {
public:
    Reader(const RunningDaemon& daemon, const std::string& query, const std::string& header = "")
        : connection_(*client::Connection::open(daemon.socket(), -1)) {
        EXPECT_TRUE(connection_.write_all("GET /hearth/v1/events" + query +
                                          " HTTP/1.0\r\nHost: a\r\n" + header + "\r\n"));
    }

    // The next event, whose name is one of those; nothing after 20 s or at the end.
    std::optional<client::ServerEvent> next(const std::set<std::string>& names = {}) {
        while (true) {
            while (!events_.empty()) {
                client::ServerEvent event = std::move(events_.front());
                events_.erase(events_.begin());
                if (names.empty() || names.contains(event.name)) return event;
            }
            if (!read()) return std::nullopt;
        }
    }
    const std::string& text() const { return text_; }

private:
    bool read() {
        std::array<char, 65536> buffer;
        pollfd wait{connection_.descriptor(), POLLIN, 0};
        if (::poll(&wait, 1, 20'000) <= 0) return false;
        const ssize_t got = ::recv(connection_.descriptor(), buffer.data(), buffer.size(), 0);
        if (got <= 0) return false;
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
        text_ += piece;
        for (auto& event : splitter_.feed(piece)) events_.push_back(std::move(event));
        return true;
    }

    client::Connection connection_;
    client::EventSplitter splitter_;
    std::vector<client::ServerEvent> events_;
    std::string text_;
};

template <typename Read>
auto read_as(const client::ServerEvent& event, Read read) {
    const auto value = protocol::parse_json(event.data);
    EXPECT_TRUE(value) << event.data;
    protocol::Fields fields(value->as_object());
    auto out = read(fields);
    EXPECT_FALSE(fields.failure()) << event.data;
    return out;
}

std::uint64_t number_of(const client::ServerEvent& event) {
    return std::strtoull(event.id.c_str(), nullptr, 10);
}

class EventsTest : public FakeDaemonTest {
protected:
    EventsTest() { import_fake(); }
    std::string metrics() const {
        const auto reply = send({.method = "GET", .target = "/metrics"});
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
        return reply.body;
    }
    protocol::MetricsHistory history(const std::string& window) const {
        const auto reply =
            send({.method = "GET", .target = "/hearth/v1/metrics/history?window=" + window});
        EXPECT_EQ(reply.status, 200) << reply.body;
        return read_as({reply.body, {}, {}}, protocol::read_metrics_history);
    }
    const protocol::HistorySeries& series(const protocol::MetricsHistory& history,
                                          const std::string& name, const std::string& model = "") {
        for (const auto& one : history.series)
            if (one.name == name && one.model == model) return one;
        ADD_FAILURE() << name;
        return history.series.front();
    }
};

TEST_F(EventsTest, TheSnapshotHasWhatAnApplicationShows) {
    Reader reader(daemon_, "");
    const auto first = reader.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->name, "snapshot");
    EXPECT_GT(number_of(*first), 0U);
    const auto snapshot = read_as(*first, protocol::read_snapshot);
    EXPECT_EQ(snapshot.status.pid, daemon_.pid());
    ASSERT_EQ(snapshot.models.size(), 1U);
    EXPECT_EQ(snapshot.models[0].id, "fake-q4-1");
    EXPECT_TRUE(snapshot.generations.empty());
    EXPECT_NE(reader.text().find("Content-Type: text/event-stream"), std::string::npos);
}

TEST_F(EventsTest, OneGenerationIsToldFromLoadToEndWithRisingNumbers) {
    Reader reader(daemon_, "");
    std::uint64_t number = number_of(reader.next().value());
    auto request = prompt("count 5");
    request.options.client = "a test";
    ASSERT_TRUE(daemon_.client().complete(request));
    std::vector<std::string> names;
    std::vector<std::string> states;
    protocol::GenerationInfo ended;
    while (names.empty() || names.back() != "generation_ended") {
        const auto event = reader.next();
        ASSERT_TRUE(event);
        EXPECT_EQ(number_of(*event), ++number);
        names.push_back(event->name);
        if (event->name == "model_state")
            states.push_back(read_as(*event, protocol::read_loaded_model).state);
        if (event->name.starts_with("generation_"))
            ended = read_as(*event, protocol::read_generation_info);
    }
    EXPECT_EQ(names.front(), "generation_started");
    EXPECT_EQ(names[names.size() - 2], "generation_first_token");
    EXPECT_EQ(states, (std::vector<std::string>{"waiting", "loading", "ready"}));
    EXPECT_EQ(ended.model, "fake-q4-1");
    EXPECT_EQ(ended.client, "a test");
    EXPECT_EQ(ended.priority, "api");
    EXPECT_EQ(ended.state, "length");
    EXPECT_EQ(ended.prompt_tokens, 2);
    EXPECT_EQ(ended.generated_tokens, 5);
    EXPECT_GT(ended.first_token_ms, 0);
    EXPECT_GE(ended.age_ms, ended.first_token_ms);
    EXPECT_EQ(reader.text().find("count 5"), std::string::npos) << "never a prompt";
    ASSERT_TRUE(daemon_.client().unload("fake-q4-1"));
    const auto gone = reader.next({"model_state"});
    const auto last = reader.next({"model_state"});
    ASSERT_TRUE(gone && last);
    EXPECT_NE(gone->data.find("stopping"), std::string::npos);
    EXPECT_NE(last->data.find("gone"), std::string::npos);
}

TEST_F(EventsTest, ModelsThatComeAndGoAreTold) {
    Reader reader(daemon_, "");
    ASSERT_TRUE(reader.next({"snapshot"}));
    daemon_.import(fake_model_file(daemon_, "second"), "second");
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) names.push_back(reader.next().value().name);
    EXPECT_EQ(names, (std::vector<std::string>{"import_started", "model_added", "default_changed",
                                               "import_ended"}))
        << "with two models there is no default until one is chosen";
    EXPECT_EQ(send({.method = "POST", .target = "/hearth/v1/models/second/default"}).status, 200);
    EXPECT_EQ(reader.next().value().data, R"({"id":"second"})");
    ASSERT_TRUE(daemon_.client().remove_model("second"));
    EXPECT_EQ(reader.next().value().name, "model_removed");
    EXPECT_EQ(reader.next().value().data, R"({"id":"fake-q4-1"})");
    const auto failed = daemon_.client().import_model({"/nowhere/x.gguf", "", {}});
    EXPECT_FALSE(failed);
    const auto ended = read_as(reader.next({"import_ended"}).value(), protocol::read_import_info);
    EXPECT_EQ(ended.file, "x.gguf");
    EXPECT_EQ(ended.error, "not_found");
}

TEST_F(EventsTest, AReaderThatComesBackGetsWhatItMissed) {
    std::uint64_t seen = 0;
    {
        Reader reader(daemon_, "");
        seen = number_of(reader.next().value());
    }
    ASSERT_TRUE(daemon_.client().complete(prompt("count 1")));
    for (const bool by_header : {false, true}) {
        const std::string number = std::to_string(seen);
        Reader reader(daemon_, by_header ? "" : "?after=" + number,
                      by_header ? "Last-Event-ID: " + number + "\r\n" : "");
        const auto event = reader.next();
        ASSERT_TRUE(event);
        EXPECT_EQ(event->name, "generation_started");
        EXPECT_EQ(number_of(*event), seen + 1);
    }
    // Numbers that were never given, or that another daemon gave.
    for (const std::string number : {"1", "9007199254740991"}) {
        Reader reader(daemon_, "?after=" + number);
        EXPECT_EQ(reader.next().value().name, "snapshot") << number;
    }
    Reader odd(daemon_, "", "Last-Event-ID: abc\r\n");
    EXPECT_EQ(odd.next().value().name, "snapshot");
}

TEST_F(EventsTest, AGapInWhatIsRememberedMeansASnapshot) {
    std::uint64_t seen = 0;
    {
        Reader reader(daemon_, "");
        seen = number_of(reader.next().value());
    }
    // Three changes each; 1024 are remembered.
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(daemon_.client().complete(prompt("count 1")));
    Reader reader(daemon_, "?after=" + std::to_string(seen));
    EXPECT_EQ(reader.next().value().name, "snapshot");
}

TEST_F(EventsTest, AReaderThatDoesNotReadLosesChangesAndGetsASnapshot) {
    Reader deaf(daemon_, "");
    Reader awake(daemon_, "");
    ASSERT_TRUE(deaf.next() && awake.next());
    // About 300 bytes for each change; the sockets hold some hundred KiB besides the queue.
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
        clients.emplace_back([&] {
            for (int j = 0; j < 600; ++j) EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
        });
    std::thread other([&] {
        for (int ended = 0; ended < 2400;)
            if (const auto event = awake.next({"generation_ended", "snapshot"}))
                ended += event->name == "snapshot" ? 2400 : 1;
            else
                break;
    });
    for (std::thread& one : clients) one.join();
    other.join();
    std::uint64_t last = 0;
    bool has_gap = false;
    while (!has_gap) {
        const auto event = deaf.next();
        ASSERT_TRUE(event) << "no snapshot came";
        has_gap = event->name == "snapshot";
        EXPECT_GT(number_of(*event), last);
        EXPECT_TRUE(last == 0 || (number_of(*event) > last + 1) == has_gap);
        last = number_of(*event);
    }
    ASSERT_TRUE(daemon_.client().complete(prompt("count 1")));
    EXPECT_EQ(number_of(deaf.next().value()), last + 1) << "it goes on after the snapshot";
}

TEST_F(EventsTest, SamplesComeToThoseWhoAskForThemOnly) {
    Reader asked(daemon_, "?metrics=1");
    Reader silent(daemon_, "");
    EXPECT_EQ(asked.next().value().name, "snapshot");
    std::thread work([&] { EXPECT_TRUE(daemon_.client().complete(prompt("count 20000"))); });
    bool has_speed = false;
    while (!has_speed) {
        const auto event = asked.next({"metrics"});
        ASSERT_TRUE(event);
        EXPECT_EQ(event->id, "");
        const auto sample = read_as(*event, protocol::read_metrics_sample);
        EXPECT_GT(sample.time, 1.7e9);
        EXPECT_GT(sample.daemon_resident_bytes, 0U);
        has_speed =
            sample.generation_tokens_per_second > 0 && sample.gap_p50_ms && !sample.models.empty();
    }
    work.join();
    ASSERT_TRUE(silent.next({"generation_ended"}));
    EXPECT_EQ(silent.text().find("event: metrics"), std::string::npos);
}

TEST_F(EventsTest, ThirtyTwoReadersAreEnough) {
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 32; ++i) {
        readers.push_back(std::make_unique<Reader>(daemon_, ""));
        ASSERT_TRUE(readers.back()->next());
    }
    const auto refused = send({.method = "GET", .target = "/hearth/v1/events"});
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.body.find("\"busy\""), std::string::npos);
    readers.pop_back();
    EXPECT_TRUE(becomes_true([&] {
        Reader again(daemon_, "");
        const auto event = again.next();
        return event && event->name == "snapshot";
    }));
}

TEST_F(EventsTest, WhatIsWrongInTheQueryIsNamed) {
    for (const auto& [query, param] :
         {std::pair("?metrics=yes", "metrics"), std::pair("?after=-1", "after"),
          std::pair("?after=", "after")}) {
        const auto reply =
            send({.method = "GET", .target = "/hearth/v1/events" + std::string(query)});
        EXPECT_EQ(reply.status, 400) << query;
        EXPECT_NE(reply.body.find("\"param\":\"" + std::string(param)), std::string::npos);
    }
    const auto reply = send({.method = "GET", .target = "/hearth/v1/metrics/history?window=2m"});
    EXPECT_EQ(reply.status, 400);
}

TEST_F(EventsTest, AStopIsTheLastChangeAndEndsTheStream) {
    Reader reader(daemon_, "");
    ASSERT_TRUE(reader.next());
    std::thread stop([&] { EXPECT_EQ(daemon_.terminate(), 0); });
    EXPECT_TRUE(reader.next({"stopping"}));
    EXPECT_FALSE(reader.next());
    stop.join();
}

TEST_F(EventsTest, TheHistoryShowsWhatHasRunAndZerosElsewhere) {
    ASSERT_TRUE(daemon_.client().complete(prompt("count 3000")));
    EXPECT_TRUE(becomes_true([&] {
        double tokens = 0;
        const auto minute = history("1m");
        for (const auto& mean : series(minute, "generation_tokens_per_second").mean)
            tokens += mean.value_or(0) * minute.step;
        return tokens > 2999 && tokens < 3001;  // speed times time
    }));
    for (const auto& [window, step, count] :
         {std::tuple("1m", 0.25, 240), std::tuple("5m", 1.0, 300), std::tuple("30m", 6.0, 300),
          std::tuple("6h", 72.0, 300), std::tuple("24h", 288.0, 300)}) {
        const auto got = history(window);
        EXPECT_EQ(got.step, step);
        EXPECT_GT(got.start, 1.7e9);
        for (const auto& one : got.series) {
            EXPECT_EQ(one.mean.size(), static_cast<std::size_t>(count)) << one.name;
            EXPECT_EQ(one.min.size(), one.mean.size());
            EXPECT_EQ(one.max.size(), one.mean.size());
        }
        const auto& speed = series(got, "generation_tokens_per_second", "fake-q4-1");
        EXPECT_FALSE(speed.mean.front()) << "before the daemon's start";
        EXPECT_TRUE(speed.mean.back());
        std::set<std::string> kinds;
        for (const auto& tick : got.ticks) kinds.insert(tick.kind);
        EXPECT_EQ(kinds, (std::set<std::string>{"start", "load", "end"}));
    }
}

TEST_F(EventsTest, PrometheusReadsWhatHappened) {
    ASSERT_TRUE(daemon_.client().complete(prompt("count 7")));
    EXPECT_FALSE(daemon_.client().complete(prompt("refuse")));
    send({.method = "GET", .target = "/nothing"});
    const PrometheusParser parser(metrics());
    EXPECT_EQ(parser.value("hearth_generated_tokens_total{model=\"fake-q4-1\"}"), 7);
    EXPECT_EQ(parser.value("hearth_prompt_tokens_total{model=\"fake-q4-1\"}"), 2);
    EXPECT_EQ(parser.value("hearth_generations_total{model=\"fake-q4-1\",outcome=\"length\"}"), 1);
    EXPECT_EQ(parser.value("hearth_generations_total{model=\"fake-q4-1\",outcome=\"failed\"}"), 1);
    EXPECT_EQ(parser.value("hearth_http_requests_total{route=\"/v1/completions\",status=\"400\"}"),
              1);
    EXPECT_EQ(parser.value("hearth_http_requests_total{route=\"other\",status=\"404\"}"), 1);
    EXPECT_EQ(parser.value("hearth_model_loads_total{model=\"fake-q4-1\"}"), 1);
    EXPECT_EQ(parser.value("hearth_models_loaded"), 1);
    EXPECT_EQ(parser.value("hearth_models_installed"), 1);
    EXPECT_EQ(parser.value("hearth_first_token_seconds_count"), 1);
    EXPECT_EQ(parser.value("hearth_token_gap_seconds_count"), 6);
    EXPECT_GT(parser.value("hearth_resident_bytes{process=\"hearthd\"}"), 1e6);
    EXPECT_GT(parser.value("hearth_resident_bytes{process=\"fake-q4-1\"}"), 1e5);
}

// Voluntary switches of all threads of the daemon: each wake-up from waiting is one.
std::uint64_t wake_ups(pid_t pid) {
    std::uint64_t sum = 0;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("voluntary_ctxt_switches:"))
                sum += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
    return sum;
}

TEST_F(EventsTest, AfterWorkNothingWakesTheDaemon) {
    ASSERT_TRUE(daemon_.client().complete(prompt("count 10")));
    // The last sample comes within half a second; then a second passes without any.
    // The thread sanitizer has a thread of its own, which wakes up.
    EXPECT_TRUE(kSanitized || becomes_true([&] {
                    const std::uint64_t before = wake_ups(daemon_.pid());
                    ::poll(nullptr, 0, 1000);
                    return wake_ups(daemon_.pid()) == before;
                }));
}

}  // namespace
