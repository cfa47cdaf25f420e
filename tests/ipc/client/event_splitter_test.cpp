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

std::vector<std::string> data_of(const std::vector<ServerEvent>& events) {
    std::vector<std::string> list;
    for (const ServerEvent& event : events) list.push_back(event.data);
    return list;
}

TEST(EventSplitter, FindsTheEvents) {
    EventSplitter splitter;
    EXPECT_THAT(data_of(splitter.feed(kStream)), ElementsAre("one", "two\nlines", ""));
}

TEST(EventSplitter, NamesAndIdsBelongToTheirEventOnly) {
    EventSplitter splitter;
    const auto events = splitter.feed("event: a\nid: 7\ndata: x\n\nevent: lost\n\ndata: y\n\n");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].name, "a");
    EXPECT_EQ(events[0].id, "7");
    EXPECT_EQ(events[1].name, "");
    EXPECT_EQ(events[1].id, "");
}

TEST(EventSplitter, FindsTheSameEventsWhereverTheBytesAreCut) {
    for (std::size_t step = 1; step < kStream.size(); ++step) {
        EventSplitter splitter;
        std::vector<std::string> events;
        for (std::size_t at = 0; at < kStream.size(); at += step)
            for (std::string& event : data_of(splitter.feed(kStream.substr(at, step))))
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
