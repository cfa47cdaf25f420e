#include "engine/device/self_check.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/base/units.h"
#include "engine/quant/traits.h"

namespace hearth {
namespace {

constexpr int kTokens = 9;  // a full tile and more
constexpr int kCols = 256;
constexpr int kRows = 24;  // a group and a half
constexpr int kHeads = 2;
constexpr int kHeadDim = 32;
constexpr int kContext = 260;  // two chunks

// Numbers in -1..1 without a pattern that a fault could hide in.
class Numbers {
public:
    float next() {
        state_ = state_ * 1664525U + 1013904223U;
        return static_cast<float>(state_ >> 8) * 0x1p-23F - 1.0F;
    }
    std::vector<float> take(int n) {
        std::vector<float> out(static_cast<std::size_t>(n));
        for (float& x : out) x = next();
        return out;
    }

private:
    std::uint32_t state_ = 1;
};

bool equal(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> values(Ops& ops, View view) {
    std::vector<float> out(static_cast<std::size_t>(view.rows) *
                           static_cast<std::size_t>(view.cols));
    ops.read(view, out);
    return out;
}

// silu(norm(x) * gate) * up + 0, of one weight type: norms, rounding, products, gates.
Result<std::vector<float>> product(Ops& ops, DType type) {
    Numbers numbers;
    const std::vector<float> plain = numbers.take(2 * kRows * kCols);
    std::vector<std::byte> blocks(static_cast<std::size_t>(*row_bytes(type, kCols).value()) * 2 *
                                  kRows);
    quant::traits(type).pack(plain.data(), plain.size(), blocks.data());
    const RowSegment segment = {type, 2 * kRows, blocks};
    HEARTH_TRY(const Weight weight, ops.upload(std::span(&segment, 1), kCols));
    HEARTH_TRY(const Buffer x, ops.allocate(kTokens, kCols));
    HEARTH_TRY(const Buffer norm, ops.allocate(1, kCols));
    HEARTH_TRY(const Buffer out, ops.allocate(kTokens, kRows));
    HEARTH_TRY(const Buffer one, ops.allocate(1, 2 * kRows));
    ops.write(numbers.take(kTokens * kCols), x.view);
    ops.write(numbers.take(kCols), norm.view);
    ops.gated(x.view, norm.view, 1e-5F, weight, out.view);
    ops.matmul(weight, x.view.first_rows(1), one.view);
    HEARTH_TRY_VOID(ops.finish());
    std::vector<float> result = values(ops, out.view);
    const std::vector<float> single = values(ops, one.view);
    result.insert(result.end(), single.begin(), single.end());
    return result;
}

Result<std::vector<float>> attention(Ops& ops) {
    constexpr int kWidth = kHeads * kHeadDim;
    constexpr int kPages = ceil_div(kContext, kPagePositions);
    Numbers numbers;
    RopeConfig rope;
    rope.dims = kHeadDim;
    HEARTH_TRY(const RopeTable table, RopeTable::make(rope, kContext));
    HEARTH_TRY(KvMemory kv, ops.allocate_kv({1, 1, kHeadDim, DType::f16, DType::f16, kPages}));
    HEARTH_TRY(const Buffer qkv, ops.allocate(kContext, kWidth + 2 * kHeadDim));
    HEARTH_TRY(const Buffer out, ops.allocate(kContext, kWidth));
    std::vector<std::int32_t> pages;
    for (int i = 0; i < kPages; ++i) pages.push_back(kPages - 1 - i);
    const std::vector<std::int32_t> tokens(kContext);
    const SequenceRows sequence = {0, kContext, 0, pages};
    const AttentionConfig config = {kHeads, 1, kHeadDim, 0.25F};
    ops.begin_step({.tokens = tokens, .sequences = std::span(&sequence, 1), .sampled_rows = {}});
    ops.write(numbers.take(kContext * qkv.view.cols), qkv.view);
    ops.rope_store(table, config, kv, 0, qkv.view);
    ops.attend(kv, 0, config, qkv.view.columns(0, kWidth), out.view);
    HEARTH_TRY_VOID(ops.finish());
    return values(ops, out.view);
}

}  // namespace

Result<std::string> first_difference(Ops& candidate, Ops& reference) {
    constexpr std::array kTypes = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0,
                                   DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                   DType::q4_k, DType::q5_k, DType::q6_k};
    for (const DType type : kTypes) {
        HEARTH_TRY(const auto expected, product(reference, type));
        HEARTH_TRY(const auto actual, product(candidate, type));
        if (!equal(actual, expected)) return "product of " + std::string(to_string(type));
    }
    HEARTH_TRY(const auto expected, attention(reference));
    HEARTH_TRY(const auto actual, attention(candidate));
    return std::string(equal(actual, expected) ? "" : "attention");
}

}  // namespace hearth
