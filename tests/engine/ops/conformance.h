// Fixtures of the suite that every backend passes: the reference beside a backend with 1, 2 and 3
// threads.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/reference/reference_ops.h"
#include "tests/engine/ops/backends.h"
#include "tests/engine/ops/material.h"

namespace hearth::test {

constexpr int kThreadCounts[] = {1, 2, 3};

class BackendTest : public testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
        MadeOps made = GetParam().make(1);
        if (!made.ops) GTEST_SKIP() << made.skip_reason;
        ops = std::move(made.ops);
    }
    std::unique_ptr<Ops> with_threads(int threads) const { return GetParam().make(threads).ops; }

    std::unique_ptr<Ops> ops;  // one thread
    std::unique_ptr<Ops> reference = make_reference_ops();
};

// Against the reference: fast backends only.
class Conformance : public BackendTest {};
// Of a backend with itself: the reference too.
class Invariance : public BackendTest {};

}  // namespace hearth::test
