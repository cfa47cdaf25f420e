// What `hearth status --watch` makes of events.
#include "ipc/cli/watch_view.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace hearth;
using namespace hearth::cli;

namespace {

class WatchViewTest : public ::testing::Test {
protected:
    WatchViewTest() {
        protocol::Snapshot snapshot;
        snapshot.status.version = "1.2.3";
        snapshot.status.pid = 42;
        snapshot.models.resize(2);
        apply("snapshot", to_json(snapshot));
    }
    void apply(const std::string& name, const boost::json::object& data) {
        view_.apply({"", name, "1"}, data);
    }
    std::string screen(std::size_t columns = 200, std::size_t rows = 50) const {
        std::string text;
        for (const std::string& line : view_.screen(columns, rows)) text += line + "\n";
        return text;
    }
    bool shows(const std::string& words) const { return screen().find(words) != std::string::npos; }
    static protocol::GenerationInfo generation(std::uint64_t number) {
        protocol::GenerationInfo info;
        info.generation = number;
        info.model = "tiny";
        info.client = "editor";
        info.state = "waiting";
        return info;
    }

    WatchView view_;
};

TEST_F(WatchViewTest, AModelIsThereFromItsFirstStateUntilItIsGone) {
    EXPECT_TRUE(shows("No model is loaded."));
    protocol::LoadedModel model;
    model.id = "tiny";
    for (const char* state : {"waiting", "loading", "ready", "stopping"}) {
        model.state = state;
        apply("model_state", to_json(model));
        EXPECT_TRUE(shows(state));
        EXPECT_EQ(view_.line(), "tiny: " + std::string(state));
    }
    apply("model_state", {{"id", "tiny"}, {"state", "gone"}});
    EXPECT_TRUE(shows("No model is loaded."));
}

TEST_F(WatchViewTest, ARequestIsListedWhileItRunsAndToldWhenItHasEnded) {
    auto info = generation(7);
    apply("generation_started", to_json(info));
    EXPECT_TRUE(shows("editor"));
    EXPECT_EQ(view_.line(), "#7 tiny for editor: started");
    info.state = "failed";
    info.error = "worker_died";
    apply("generation_ended", to_json(info));
    EXPECT_FALSE(shows("REQUEST"));
    EXPECT_TRUE(shows("#7 tiny for editor: failed (worker_died)"));
    for (std::uint64_t number = 8; number < 20; ++number)
        apply("generation_ended", to_json(generation(number)));
    EXPECT_FALSE(shows("#7 ")) << "only the last ones";
}

TEST_F(WatchViewTest, SamplesAreSpeeds) {
    protocol::MetricsSample sample;
    sample.generation_tokens_per_second = 81.25;
    sample.gap_p50_ms = 12.3;
    sample.gap_p95_ms = 20;
    sample.running = 3;
    apply("metrics", to_json(sample));
    EXPECT_TRUE(shows("81.2 tokens/s"));
    EXPECT_TRUE(shows("between tokens 12.3 ms, 95 % under 20.0 ms"));
    EXPECT_TRUE(shows("3 running, 0 queued"));
    EXPECT_EQ(view_.line(), "");
}

TEST_F(WatchViewTest, TheScreenFitsTheTerminal) {
    auto info = generation(1);
    info.client = "\xC3\xA9\xC3\xA9\xC3\xA9 \x1b[31mred";
    apply("generation_started", to_json(info));
    EXPECT_FALSE(shows("\x1b")) << "nobody may drive the terminal";
    for (const std::size_t columns : {1UL, 10UL, 80UL})
        for (const std::string& line : view_.screen(columns, 4)) {
            const auto width = std::ranges::count_if(
                line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
            EXPECT_LE(static_cast<std::size_t>(width), columns) << line;
        }
    EXPECT_EQ(view_.screen(80, 4).size(), 4U);
}

TEST_F(WatchViewTest, WhatIsUnknownOrBrokenIsPassedOver) {
    const std::string before = screen();
    apply("something_of_next_year", {{"x", 1}});
    view_.apply({"", "metrics", ""}, boost::json::value(5));
    view_.apply({"", "generation_ended", ""}, boost::json::value(nullptr));
    EXPECT_EQ(screen().substr(0, 20), before.substr(0, 20));
}

}  // namespace
