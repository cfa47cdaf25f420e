// Frames: what comes out is what went in, however the bytes are cut; lies in a header cost no
// memory.
#include "ipc/worker/frames.h"

#include <gtest/gtest.h>

#include <vector>

using namespace hearth;
using namespace hearth::wire;

namespace {

std::vector<Frame> read_all(FrameReader& reader) {
    std::vector<Frame> frames;
    while (true) {
        auto next = reader.next();
        EXPECT_TRUE(next) << next.error().message;
        if (!next || !*next) return frames;
        frames.push_back(**std::move(next));
    }
}

TEST(Frames, HaveTheDocumentedLayout) {
    const std::string bytes = encode_frame(Kind::delta, 0x0102030405060708U, "{}");
    EXPECT_EQ(bytes, std::string("\x02\0\0\0\x67\0\x08\x07\x06\x05\x04\x03\x02\x01{}", 16));
}

TEST(Frames, ComeOutWholeHoweverTheBytesAreCut) {
    std::string bytes;
    for (std::uint64_t i = 0; i < 20; ++i) {
        bytes += encode_frame(Kind::generate, i, std::string(static_cast<std::size_t>(i) * 7, 'x'));
    }
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{3}, std::size_t{14}, bytes.size()}) {
        SCOPED_TRACE(piece);
        FrameReader reader;
        std::vector<Frame> frames;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            reader.feed(std::string_view(bytes).substr(at, piece));
            for (Frame& frame : read_all(reader)) frames.push_back(std::move(frame));
        }
        ASSERT_EQ(frames.size(), 20U);
        for (std::uint64_t i = 0; i < 20; ++i) {
            EXPECT_EQ(frames[i].request, i);
            EXPECT_EQ(frames[i].kind, 2);
            EXPECT_EQ(frames[i].payload, std::string(static_cast<std::size_t>(i) * 7, 'x'));
        }
        EXPECT_EQ(reader.pending(), 0U);
    }
}

TEST(Frames, RefuseALengthOverTheLimitBeforeTheBytesCome) {
    FrameReader reader(10);
    reader.feed(encode_frame(Kind::load, 0, "0123456789"));
    EXPECT_EQ(read_all(reader).size(), 1U);
    reader.feed(encode_frame(Kind::load, 0, "0123456789a").substr(0, kHeaderBytes));
    const auto next = reader.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, ErrorCode::too_large);
    EXPECT_NE(next.error().message.find("11"), std::string::npos);
}

TEST(Frames, HoldOnlyWhatHasArrived) {
    FrameReader reader;
    reader.feed(std::string("\xff\xff\xff\x03\x01\0\0\0\0\0\0\0\0\0abc", 17));
    const auto next = reader.next();
    ASSERT_TRUE(next);
    EXPECT_FALSE(*next);
    EXPECT_EQ(reader.pending(), 17U);
}

}  // namespace
