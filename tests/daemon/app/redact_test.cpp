// Secrets leave a line, everything else stays.
#include "daemon/app/redact.h"

#include <gtest/gtest.h>

using hearth::app::redacted;

namespace {

// Part of T109 (the rest is in canary_test.cpp): in no log, whoever wrote the line.
TEST(Redact, TokensLeaveALine) {
    const std::string token = "hearth-3kTqVb0Zx9LmNp_Rs-W2yA4cD6eF8gH1";
    for (const auto& [line, wanted] : std::initializer_list<std::pair<std::string, std::string>>{
             {token, "hearth-[redacted]"},
             {"a " + token + " b", "a hearth-[redacted] b"},
             {"key=" + token + ", " + token, "key=hearth-[redacted], hearth-[redacted]"},
             {"Authorization: Bearer abc.def~+/==", "Authorization: Bearer [redacted]"},
             {"authorization: bearer   x y", "authorization: bearer   [redacted] y"},
             {"BEARER " + token + "!", "BEARER [redacted]!"},
             {"/health?t=Bearer%20abcdef", "/health?t=Bearer%20[redacted]"},
             {"Basic dXNlcjpwYXNzd29yZA==", "Basic [redacted]"},
             {"sk-0123456789abcdefghijklm", "sk-[redacted]"}})
        EXPECT_EQ(redacted(line), wanted);
}

TEST(Redact, LeavesWhatIsNoSecret) {
    for (const std::string line :
         {"", "hearth-worker ended", "/tmp/hearth-test-Ab3dEf/run/hearth/hearth.sock", "hearth-",
          "the bearer", "a basic error", "task-3kTqVb0Zx9LmNp",
          "smollm2-135m-instruct.q4-1: loaded", "risk-0123456789abcdefghijklmnop"})
        EXPECT_EQ(redacted(line), line);
}

TEST(Redact, IsQuickOnLongLines) {
    const std::string line(1 << 20, 'b');
    EXPECT_EQ(redacted(line), line);
}

}  // namespace
