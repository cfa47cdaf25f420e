// Server-sent events come out whole, however the bytes were cut.
#include "ipc/client/event_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ipc/client/client.h"

using namespace hearth;
using namespace hearth::client;
using testing::ElementsAre;

namespace {

constexpr std::string_view kStream =
    "data: one\n\n"
    ": a comment\r\n\r\n"
    "event: x\ndata:two\ndata: lines\n\n"
    "data:\r\n\r\n"
    "data: never finished\n";

TEST(EventSplitter, FindsTheEvents) {
    EventSplitter splitter;
    EXPECT_THAT(splitter.feed(kStream), ElementsAre("one", "two\nlines", ""));
}

TEST(EventSplitter, FindsTheSameEventsWhereverTheBytesAreCut) {
    for (std::size_t step = 1; step < kStream.size(); ++step) {
        EventSplitter splitter;
        std::vector<std::string> events;
        for (std::size_t at = 0; at < kStream.size(); at += step)
            for (std::string& event : splitter.feed(kStream.substr(at, step)))
                events.push_back(std::move(event));
        EXPECT_THAT(events, ElementsAre("one", "two\nlines", "")) << step;
    }
}

TEST(Client, SaysThatNoDaemonAnswers) {
    const Client client("/nonexistent/hearth.sock");
    EXPECT_FALSE(client.answers());
    const auto status = client.status();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::io_failed);
    EXPECT_NE(status.error().message.find("/nonexistent/hearth.sock"), std::string::npos);
}

}  // namespace
