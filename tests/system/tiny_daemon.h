// One real hearthd with the tiny model for all tests of a suite: each leaves it as it found it.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/paths.h"
#include "tests/system/running_daemon.h"

namespace hearth::testing {

class TinyDaemonTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        daemon_ = std::make_unique<RunningDaemon>();
        daemon_->import(tiny_model_path(), "tiny");
    }
    static void TearDownTestSuite() { daemon_.reset(); }

    static const client::Client& client() { return daemon_->client(); }

    static inline std::unique_ptr<RunningDaemon> daemon_;
};

}  // namespace hearth::testing
