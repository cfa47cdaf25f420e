// The choice of a backend, and the check that a set of kernels has to pass first.
#include "engine/device/make_ops.h"

#include <gtest/gtest.h>

#include "engine/cpu/cpu_ops.h"
#include "engine/cpu/kernel_table.h"
#include "engine/device/self_check.h"
#include "engine/reference/reference_ops.h"

namespace hearth {
namespace {

std::string checked(const cpu::KernelTable& kernels) {
    const auto difference = first_difference(*cpu::make_cpu_ops(kernels, 2), *make_reference_ops());
    return difference ? *difference : difference.error().message;
}

TEST(MakeOps, NamesWhatRunsAndItsThreads) {
    const auto ops = make_ops({.backend = "cpu-emulated", .threads = 3});
    ASSERT_TRUE(ops);
    EXPECT_EQ((*ops)->description(), "cpu, emulated 512-bit, 3 threads");
    const auto single = make_ops({.backend = "cpu-emulated", .threads = 1});
    ASSERT_TRUE(single);
    EXPECT_EQ((*single)->description(), "cpu, emulated 512-bit, 1 thread");
}

TEST(MakeOps, PicksTheWidestSetThatThisMachineRuns) {
    const auto ops = make_ops({.backend = "auto", .threads = 1});
    ASSERT_TRUE(ops);
    const std::string expected = cpu::avx512_kernels() != nullptr ? "cpu, AVX-512 VNNI, 1 thread"
                                 : cpu::avx2_kernels() != nullptr ? "cpu, AVX2, 1 thread"
                                                                  : "reference";
    EXPECT_EQ((*ops)->description().substr(0, expected.size()), expected);
}

TEST(MakeOps, RefusesUnknownNamesAndNegativeThreads) {
    const auto unknown = make_ops({.backend = "abacus", .threads = 1});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::bad_input);
    EXPECT_NE(unknown.error().message.find("abacus"), std::string::npos);
    const auto negative = make_ops({.backend = "cpu", .threads = -1});
    ASSERT_FALSE(negative);
    EXPECT_EQ(negative.error().code, ErrorCode::bad_input);
}

TEST(SelfCheck, PassesForTheSetsThatThisMachineRuns) {
    for (const cpu::KernelTable* kernels :
         {cpu::avx512_kernels(), cpu::avx2_kernels(), cpu::emulated_kernels()}) {
        if (kernels == nullptr) continue;
        EXPECT_EQ(checked(*kernels), "") << kernels->name;
    }
}

TEST(SelfCheck, NamesTheProductThatIsWrong) {
    cpu::KernelTable broken = *cpu::emulated_kernels();
    broken.product[static_cast<int>(DType::q5_0)] = [](const cpu::ProductArgs& args) {
        cpu::emulated_kernels()->product[static_cast<int>(DType::q5_0)](args);
        // The last bit of one value.
        float& value = args.out[args.column + args.first_group * cpu::kGroupRows];
        value += value * 0x1p-23F;
    };
    EXPECT_EQ(checked(broken), "product of Q5_0");
}

TEST(SelfCheck, NoticesWrongAttention) {
    cpu::KernelTable broken = *cpu::emulated_kernels();
    broken.merge = [](const cpu::MergeArgs&) {};  // forgets all chunks but the first
    EXPECT_EQ(checked(broken), "attention");
}

}  // namespace
}  // namespace hearth
