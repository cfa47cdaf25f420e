// What a set of CPU kernels offers: a table of functions, one set per instruction set, chosen once
// at start. Also the layouts that the kernels and their callers share. Results of all sets are
// equal bit for bit (engine/ops/README.md).
//
// Rows of a weight lie in groups of 16, so that a vector holds neighbouring rows: a lane is one
// output, and its chain of additions never depends on the width of a vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tensor/dtype.h"

namespace hearth::cpu {

constexpr int kGroupRows = 16;
constexpr int kBlockCols = 32;  // activations are rounded in blocks of 32

// A run of rows of one type, packed (packed_weight.h says how). Rows past `rows` are zeros.
struct PackedRows {
    DType type = DType::f32;
    int rows = 0;
    int cols = 0;
    const std::uint8_t* data = nullptr;  // first group, 64-byte aligned
    std::size_t group_bytes = 0;
    std::size_t quants_at = 0;  // within a group: scales of all blocks come first, then the quants

    int groups() const { return (rows + kGroupRows - 1) / kGroupRows; }
};

// Tokens of a product are cut into panels of nearly equal size, at most `tile` tokens each, which
// the kernels carry through their registers together.
struct Panels {
    int tokens;
    int count;

    static Panels cut(int tokens, int tile) { return {tokens, (tokens + tile - 1) / tile}; }
    int first(int panel) const {  // the first token of a panel
        const int size = tokens / count;
        const int larger = tokens % count;
        return panel * size + (panel < larger ? panel : larger);
    }
    int size(int panel) const { return first(panel + 1) - first(panel); }
};

// Rounded activations of a panel of P tokens: per block of 32 columns
//   int8 q[P][32]; float da[P]; float da_sum[P] = fl(da * sum)
// then, for each Start, int32 start[block][P]: what takes the offset of a format off the integer
// sum. Starts that no weight wants are left out of writing. Panels follow each other, so that token
// t, if it is the first of its panel, begins at t * blocks * kTokenBytes.
enum Start : int { kStart8, kStart16, kStart128, kStart32Low, kStart32High, kStarts };
constexpr int kRoundedBytes = kBlockCols + 4 + 4;         // per token and block
constexpr int kTokenBytes = kRoundedBytes + 4 * kStarts;  // with the starts
// Plain activations of a panel, for weights that are floats: per column, float x[P].

struct PrepareArgs {
    const float* x;  // row of token 0
    std::int64_t stride;
    int cols;
    const float* norm;  // [cols]: apply rms_norm with it first; null: do not
    float eps;
    Panels panels;
    int first_panel;
    int last_panel;
    unsigned starts;        // bit i: Start i is wanted
    std::uint8_t* rounded;  // null when not wanted
    float* plain;           // null when not wanted
};

struct ProductArgs {
    const PackedRows* weight;
    int first_group;
    int last_group;
    Panels panels;
    int first_panel;
    int last_panel;
    const std::uint8_t* rounded;  // of token 0
    const float* plain;
    // Row i of the weight goes to out[column + i] of its token's row; out is the row of the first
    // token of first_panel.
    float* out;
    std::int64_t stride;
    std::int64_t column;
    bool add;  // out += product
};
using ProductKernel = void (*)(const ProductArgs&);

// At most this many query vectors share one pass over keys and values: what the registers of the
// 512-bit set hold beside two vectors of keys.
constexpr int kMaxQueries = 12;

// One chunk of attention, computed alone. Query vectors of one head of keys, ascending visibility.
struct AttendChunkArgs {
    const float* q;  // [head_dim][kMaxQueries]
    int queries;
    const int* visible;          // [queries] positions of this chunk that each sees, 1..256
    const std::int32_t* pages;   // of the chunk
    const std::uint8_t* keys;    // page 0, this head: [head_dim][16]
    const std::uint8_t* values;  // page 0, this head: [16][head_dim]
    std::size_t key_page_bytes;
    std::size_t value_page_bytes;
    DType key_type;
    DType value_type;
    int head_dim;
    float scale;
    float* scores;   // [kMaxQueries][256], scratch
    float* maximum;  // [queries]
    float* sum;      // [queries]
    float* mixed;    // [queries][mixed_stride], mixed_stride a multiple of 16
    std::int64_t mixed_stride;
};

// The running result of one query vector takes in the next chunk's.
struct MergeArgs {
    float* maximum;
    float* sum;
    float* mixed;
    float next_maximum;
    float next_sum;
    const float* next_mixed;
    int channels;  // a multiple of 16
};

struct RopeArgs {
    const float* cosines;  // [dims / 2]
    const float* sines;
    int dims;
    bool interleaved;
    int heads;
    int head_dim;
    float* x;
};

struct KernelTable {
    const char* name;
    int tile_tokens;
    ProductKernel product[32];  // by DType
    void (*prepare)(const PrepareArgs&);
    void (*rms_norm)(const float* x, const float* norm, float eps, int cols, float* out);
    void (*add)(const float* x, int n, float* out);
    void (*silu_mul)(const float* gate, const float* up, int n, float* out);
    void (*rope)(const RopeArgs&);
    void (*to_f16)(const float* x, int n, std::uint16_t* out);
    void (*attend_chunk)(const AttendChunkArgs&);
    void (*merge)(const MergeArgs&);
    void (*divide)(const float* x, float by, int n, float* out);
};

// Null where the machine cannot run them, or this build has none.
const KernelTable* avx2_kernels();    // with FMA and F16C
const KernelTable* avx512_kernels();  // F, BW, VL, DQ and VNNI
// The algorithms of the 512-bit set over plain C++ arrays of 16: for tests, on any machine.
const KernelTable* emulated_kernels();

}  // namespace hearth::cpu
