#include "engine/base/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace hearth {
namespace {

struct Bad {
    const char* name;
    std::string bytes;
    std::size_t offset;     // of the error
    std::string displayed;  // with U+FFFD for each maximal subpart; R stands for U+FFFD
};

std::string with_replacements(std::string text) {
    for (std::size_t at; (at = text.find('R')) != std::string::npos;) {
        text.replace(at, 1, kReplacementUtf8);
    }
    return text;
}

const Bad kBad[] = {
    {"lone continuation byte", "a\x80z", 1, "aRz"},
    {"overlong of two bytes", "\xC0\xAF", 0, "RR"},
    {"overlong of three bytes", "ab\xE0\x80\xAF", 2, "abRRR"},
    {"overlong of four bytes", "\xF0\x80\x80\xAF", 0, "RRRR"},
    {"surrogate", "x\xED\xA0\x80", 1, "xRRR"},
    {"above U+10FFFF", "\xF4\x90\x80\x80", 0, "RRRR"},
    {"byte that never occurs", "ok\xFF", 2, "okR"},
    {"cut two-byte character", "\xC3", 0, "R"},
    {"cut three-byte character", "e\xE2\x82", 1, "eR"},
    {"cut four-byte character", "\xF0\x9F\x94", 0, "R"},
    {"character cut by a letter", "\xE2\x82z\xF0\x9Fz", 0, "RzRz"},
    // The example of the Unicode standard, section 3.9, table 3-8.
    {"truncated sequences", "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 0, "RRRRA"},
};

TEST(Utf8, ErrorsAreFoundAtTheirOffset) {
    for (const Bad& bad : kBad) {
        EXPECT_EQ(find_utf8_error(bad.bytes), bad.offset) << bad.name;
    }
    EXPECT_EQ(find_utf8_error(std::string("\0 caf\xC3\xA9 \xF4\x8F\xBF\xBF", 12)), std::nullopt);
}

TEST(Utf8, EachMaximalSubpartBecomesOneReplacementCharacterHoweverTheBytesAreCut) {
    for (const Bad& bad : kBad) {
        for (std::size_t cut = 0; cut <= bad.bytes.size(); ++cut) {
            SCOPED_TRACE(bad.name);
            Utf8Assembler assembler;
            std::string out;
            assembler.push(std::string_view(bad.bytes).substr(0, cut), out);
            EXPECT_EQ(find_utf8_error(out), std::nullopt);
            assembler.push(std::string_view(bad.bytes).substr(cut), out);
            assembler.flush(out);
            EXPECT_EQ(out, with_replacements(bad.displayed));
            EXPECT_FALSE(assembler.pending());
        }
    }
}

TEST(Utf8, EveryScalarValueSurvivesEncodingAndDecoding) {
    for (char32_t code = 0; code <= 0x10FFFF; ++code) {
        if (code >= 0xD800 && code <= 0xDFFF) continue;
        std::string bytes;
        append_utf8(bytes, code);
        const Decoded decoded = decode_utf8(bytes, 0);
        ASSERT_TRUE(decoded.valid);
        ASSERT_EQ(decoded.code, code);
        ASSERT_EQ(decoded.length, bytes.size());
    }
}

TEST(Utf8, BytesOneAtATimeGiveTheSameTextAsAllAtOnce) {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        for (int i = 0; i < 24; ++i) {
            constexpr std::string_view kLikely = "a\x80\xBF\xC3\xE0\xE2\xED\xF0\xF4\x9F\xA0\x90";
            bytes += kLikely[random() % kLikely.size()];
        }
        Utf8Assembler whole;
        std::string at_once;
        whole.push(bytes, at_once);
        whole.flush(at_once);
        Utf8Assembler single;
        std::string one_by_one;
        for (const char byte : bytes) {
            const std::size_t before = one_by_one.size();
            single.push({&byte, 1}, one_by_one);
            ASSERT_EQ(find_utf8_error(std::string_view(one_by_one).substr(before)), std::nullopt);
        }
        single.flush(one_by_one);
        ASSERT_EQ(one_by_one, at_once);
        ASSERT_EQ(find_utf8_error(at_once), std::nullopt);
    }
}

TEST(Utf8, RepairLeavesValidTextAndReplacesEachError) {
    for (const Bad& bad : kBad) {
        EXPECT_EQ(repair_utf8(bad.bytes), with_replacements(bad.displayed)) << bad.name;
        EXPECT_FALSE(find_utf8_error(repair_utf8(bad.bytes))) << bad.name;
    }
    EXPECT_EQ(repair_utf8("a\xC3\xA9\xF0\x9F\x98\x80"), "a\xC3\xA9\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace hearth
