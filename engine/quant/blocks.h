// Blocks as they lie in a file, little-endian, without padding. A row is a whole number of blocks.
// How the bits are placed is said here; what the numbers mean, in README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hearth::quant {

// In every 4-bit block of 32, byte j holds element j in its low half and element j + 16 in its high
// half.
struct BlockQ4_0 {
    std::uint16_t d;  // f16, as all scales and minima below
    std::uint8_t qs[16];
};
struct BlockQ4_1 {
    std::uint16_t d;
    std::uint16_t m;
    std::uint8_t qs[16];
};
struct BlockQ5_0 {
    std::uint16_t d;
    std::uint8_t qh[4];  // bit j of the little-endian number is the fifth bit of element j
    std::uint8_t qs[16];
};
struct BlockQ5_1 {
    std::uint16_t d;
    std::uint16_t m;
    std::uint8_t qh[4];
    std::uint8_t qs[16];
};
struct BlockQ8_0 {
    std::uint16_t d;
    std::int8_t qs[32];
};

// 256 elements: 8 sub-blocks of 32. Byte 32 g + j of qs holds element j of sub-block 2 g in its low
// half and of sub-block 2 g + 1 in its high half. scales: see KScales.
struct BlockQ4_K {
    std::uint16_t d;
    std::uint16_t dmin;
    std::uint8_t scales[12];
    std::uint8_t qs[128];
};
struct BlockQ5_K {
    std::uint16_t d;
    std::uint16_t dmin;
    std::uint8_t scales[12];
    std::uint8_t qh[32];  // bit i of byte j is the fifth bit of element j of sub-block i
    std::uint8_t qs[128];
};
// 256 elements: 16 sub-blocks of 16, in two halves of 128. In half h, with r = 0..3 and j = 0..31,
// element 32 r + j has its low four bits in byte 64 h + 32 (r & 1) + j of ql (low half for r < 2,
// else high) and its high two bits at bit 2 r of byte 32 h + j of qh.
struct BlockQ6_K {
    std::uint8_t ql[128];
    std::uint8_t qh[64];
    std::int8_t scales[16];
    std::uint16_t d;
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22);
static_assert(sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);

// Blocks lie in files at any address, so they are copied out and in.
template <typename Block>
Block load_block(const std::byte* from) {
    Block block;
    std::memcpy(&block, from, sizeof(Block));
    return block;
}
template <typename Block>
void store_block(const Block& block, std::byte* to) {
    std::memcpy(to, &block, sizeof(Block));
}

// The 6-bit scales and minima of the eight sub-blocks of Q4_K and Q5_K, in 12 bytes. With i = 0..3:
// byte i has scale i in its low six bits, byte 4 + i has min i; byte 8 + i has the low four bits of
// scale 4 + i and of min 4 + i (high half), whose upper two bits are the top bits of bytes i and 4
// + i.
struct KScales {
    std::uint8_t scale[8];
    std::uint8_t min[8];

    static KScales unpack(const std::uint8_t* packed);
    void pack(std::uint8_t* packed) const;
};

inline KScales KScales::unpack(const std::uint8_t* packed) {
    KScales out;
    for (int i = 0; i < 4; ++i) {
        const unsigned a = packed[i];
        const unsigned b = packed[4 + i];
        const unsigned c = packed[8 + i];
        out.scale[i] = static_cast<std::uint8_t>(a & 63U);
        out.min[i] = static_cast<std::uint8_t>(b & 63U);
        out.scale[4 + i] = static_cast<std::uint8_t>((c & 15U) | ((a >> 6) << 4));
        out.min[4 + i] = static_cast<std::uint8_t>((c >> 4) | ((b >> 6) << 4));
    }
    return out;
}

inline void KScales::pack(std::uint8_t* packed) const {
    for (int i = 0; i < 4; ++i) {
        const unsigned high_scale = scale[4 + i];
        const unsigned high_min = min[4 + i];
        packed[i] = static_cast<std::uint8_t>(scale[i] | ((high_scale >> 4) << 6));
        packed[4 + i] = static_cast<std::uint8_t>(min[i] | ((high_min >> 4) << 6));
        packed[8 + i] = static_cast<std::uint8_t>((high_scale & 15U) | ((high_min & 15U) << 4));
    }
}

}  // namespace hearth::quant
