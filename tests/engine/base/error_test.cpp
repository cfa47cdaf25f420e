// Names of error codes travel over sockets, and names that we do not know become our own bug.
#include "engine/base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/base/log.h"

namespace hearth {
namespace {

TEST(ErrorCode, EveryCodeHasItsOwnNameAndComesBackFromIt) {
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
        const auto code = static_cast<ErrorCode>(i);
        const std::string_view name = to_string(code);
        EXPECT_FALSE(name.empty());
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_EQ(error_code_from_string(name), code);
    }
    EXPECT_EQ(to_string(ErrorCode::model_corrupt), "model_corrupt");
}

TEST(ErrorCode, UnknownNamesBecomeInternal) {
    EXPECT_EQ(error_code_from_string("something_newer"), ErrorCode::internal);
    EXPECT_EQ(error_code_from_string(""), ErrorCode::internal);
}

TEST(Log, GoesToTheInstalledSink) {
    std::string seen;
    set_log_sink([&](LogLevel level, std::string_view line) {
        seen += std::to_string(static_cast<int>(level)) + std::string(line);
    });
    log(LogLevel::info, "one");
    log(LogLevel::error, "two");
    set_log_sink({});
    EXPECT_EQ(seen, "1one3two");
}

}  // namespace
}  // namespace hearth
