// Buffers are aligned, zeroed and owned once.
#include "engine/base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hearth {
namespace {

TEST(AlignedBuffer, IsAlignedAndZeroed) {
    auto buffer = AlignedBuffer::allocate(100);
    ASSERT_TRUE(buffer.has_value());
    ASSERT_EQ(buffer->size(), 100U);
    // Only the address matters here.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
    EXPECT_TRUE(
        std::ranges::all_of(buffer->bytes(), [](std::byte b) { return b == std::byte{0}; }));
    buffer->bytes()[99] = std::byte{1};

    AlignedBuffer moved = *std::move(buffer);
    EXPECT_EQ(moved.bytes()[99], std::byte{1});
    AlignedBuffer other;
    other = std::move(moved);
    EXPECT_EQ(other.size(), 100U);
    EXPECT_EQ(other.bytes()[99], std::byte{1});
}

TEST(AlignedBuffer, NoBytesIsAnEmptyBuffer) {
    const auto buffer = AlignedBuffer::allocate(0);
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(buffer->size(), 0U);
    EXPECT_TRUE(buffer->bytes().empty());
}

TEST(AlignedBuffer, MoreThanThereIsAddressSpaceIsAnError) {
    const auto buffer = AlignedBuffer::allocate(std::numeric_limits<std::size_t>::max() / 2);
    ASSERT_FALSE(buffer.has_value());
    EXPECT_EQ(buffer.error().code, ErrorCode::no_memory);
}

}  // namespace
}  // namespace hearth
