// When a model is refused because of what it did before.
#include "daemon/supervise/health.h"

#include <gmock/gmock.h>

using namespace hearth;
using namespace hearth::supervise;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

class HealthTest : public testing::Test {
protected:
    std::optional<ErrorCode> refused(Health::Time now, const std::string& id = "m") {
        const auto error = health_.refusal(id, file_, now);
        if (error) message_ = error->message;
        return error ? std::optional(error->code) : std::nullopt;
    }

    Health::Time start_ = Health::Time(1000s);
    FileStamp file_{.device = 1, .inode = 2, .size = 3, .modified_ns = 4};
    std::string kept_;
    std::string message_;
    Health health_{
        60s, {{"old", "an earlier run said so"}}, [this](const auto& id, const auto& why) {
            kept_ += id + (why.empty() ? " lifted;" : " quarantined;");
        }};
};

TEST_F(HealthTest, TwoDeathsInALoadWithinAMinuteQuarantineTheModel) {
    health_.died_loading("m", "ended with signal 9", start_);
    EXPECT_EQ(refused(start_), std::nullopt);
    health_.died_loading("m", "ended with signal 9", start_ + 59s);
    EXPECT_EQ(refused(start_ + 1000h), ErrorCode::quarantined) << "time alone heals nothing";
    EXPECT_THAT(message_, HasSubstr("signal 9"));
    EXPECT_THAT(message_, HasSubstr("hearth load m --force"));
    EXPECT_EQ(kept_, "m quarantined;");
    EXPECT_EQ(refused(start_, "other"), std::nullopt);
}

TEST_F(HealthTest, DeathsFarApartDoNot) {
    for (int i = 0; i < 10; ++i) health_.died_loading("m", "ended", start_ + i * 61s);
    EXPECT_EQ(refused(start_ + 600s), std::nullopt);
    EXPECT_EQ(kept_, "");
}

TEST_F(HealthTest, AQuarantineOutlivesTheDaemonAndEndsByForceOnly) {
    EXPECT_EQ(refused(start_, "old"), ErrorCode::quarantined);
    EXPECT_THAT(message_, HasSubstr("an earlier run said so"));
    health_.forget("old");
    EXPECT_EQ(refused(start_, "old"), std::nullopt);
    EXPECT_EQ(kept_, "old lifted;");
    EXPECT_TRUE(health_.quarantined().empty());
    health_.forget("never heard of");
    EXPECT_EQ(kept_, "old lifted;");
}

TEST_F(HealthTest, FiveDeathsWhileAnsweringLetAModelRestForAMinute) {
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(refused(start_), std::nullopt) << i;
        health_.died_answering("m", start_ + i * 1s);
    }
    EXPECT_EQ(refused(start_ + 4s), ErrorCode::worker_died);
    EXPECT_THAT(message_, HasSubstr("rests for 56 s"));
    EXPECT_EQ(refused(start_ + 60s), ErrorCode::worker_died);
    EXPECT_EQ(refused(start_ + 61s), std::nullopt);
    EXPECT_EQ(kept_, "") << "that is no quarantine";
}

TEST_F(HealthTest, AFileThatWasRefusedIsRefusedAgainUntilItChanges) {
    health_.refused("m", file_, {ErrorCode::model_corrupt, "byte 7 is wrong"});
    EXPECT_EQ(refused(start_ + 1000h), ErrorCode::model_corrupt);
    EXPECT_EQ(message_, "byte 7 is wrong");
    file_.modified_ns = 5;
    EXPECT_EQ(refused(start_), std::nullopt);
}

TEST_F(HealthTest, ARefusalForAnotherReasonIsTriedAgain) {
    health_.refused("m", file_, {ErrorCode::no_memory, "not now"});
    EXPECT_EQ(refused(start_), std::nullopt);
}

}  // namespace
