// A flood of one kind of line is counted, and does not drown the others.
#include "daemon/app/log_limit.h"

#include <gtest/gtest.h>

using namespace hearth;
using namespace hearth::app;

namespace {

class LogLimitTest : public ::testing::Test {
protected:
    std::vector<std::string> say(const std::string& text) {
        std::vector<std::string> out;
        for (const LogLine& line : limit_.take(now_, {LogLevel::info, text}))
            out.push_back(line.text);
        return out;
    }

    LogLimit limit_;
    LogLimit::Clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(LogLimitTest, LinesThatDifferInNumbersAreOneKind) {
    int written = 0;
    for (int i = 0; i < 1000; ++i) {
        now_ += std::chrono::milliseconds(1);
        written += static_cast<int>(
            say("GET /health 200 " + std::to_string(i) + "." + std::to_string(i % 7) + " ms")
                .size());
    }
    EXPECT_EQ(written, LogLimit::kPerKind);
    EXPECT_EQ(say("something else"), std::vector<std::string>{"something else"});
    now_ += LogLimit::kWindow;
    EXPECT_EQ(say("later"),
              (std::vector<std::string>{"980 more like it: GET /health 200 0.0 ms", "later"}));
    now_ += LogLimit::kWindow;
    EXPECT_EQ(say("GET /health 200 1 ms").size(), 1U) << "it may speak again";
}

TEST_F(LogLimitTest, ManyKindsTogetherHaveALimitToo) {
    std::size_t written = 0;
    for (int i = 0; i < 100'000; ++i) {
        std::string text = "kind ";
        for (int rest = i; rest > 0; rest /= 26) text += static_cast<char>('a' + rest % 26);
        written += say(text).size();
    }
    EXPECT_LE(written, static_cast<std::size_t>(LogLimit::kInAll));
    const auto rest = limit_.finish();
    ASSERT_FALSE(rest.empty());
    EXPECT_EQ(rest.back().text,
              std::to_string(100'000 - written) + " more lines of other kinds were not written");
}

TEST_F(LogLimitTest, NothingIsCountedTwice) {
    for (int i = 0; i < 30; ++i) say("again");
    const auto first = limit_.finish();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].text, "10 more like it: again");
    EXPECT_EQ(first[0].level, LogLevel::info);
    EXPECT_TRUE(limit_.finish().empty());
}

}  // namespace
