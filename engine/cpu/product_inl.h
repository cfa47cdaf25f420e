// Products of quantized weights with rounded activations: included once per instruction set, which
// first names its words `simd`.
//
//   weight   packed groups of 16 rows (packed_weight.h); a register holds kLanes of them
//   panel    rounded activations of T tokens (kernel_table.h)
//   work     a tile is T tokens by G registers of rows: unpacked weights are used T times, shared
//            activations G times. A slab of groups stays in the first-level cache while all panels
//            pass over it
//   numbers  per (sub-)block acc = fma(fl(d * da), dot, acc), then acc = fma(min, da_sum, acc),
//            where dot is an exact integer sum (engine/quant/README.md)
namespace hearth::cpu {
namespace {

template <int kBitsOf, int kStartOf, bool kMinimumOf, bool kSuperOf>
struct Format {
    static constexpr int kBits = kBitsOf;
    static constexpr int kStart = kStartOf;  // which start takes the offset off; -1: none
    static constexpr bool kMinimum = kMinimumOf;
    static constexpr bool kSuper = kSuperOf;  // scales of sub-blocks in units of 256
};
using Q8_0 = Format<8, kStart128, false, false>;
using Q4_0 = Format<4, kStart8, false, false>;
using Q4_1 = Format<4, -1, true, false>;
using Q5_0 = Format<5, kStart16, false, false>;
using Q5_1 = Format<5, -1, true, false>;
using Q4_K = Format<4, -1, true, true>;
using Q5_K = Format<5, -1, true, true>;
using Q6_K = Format<6, kStart32Low, false, true>;

// One block of a panel of T tokens.
template <int T>
struct PanelBlock {
    const std::uint8_t* at;
    const std::int32_t* starts;  // of the kind that the format wants
    std::int64_t next_kind;      // to the same block's starts of the next kind

    const std::int8_t* q(int t) const { return as<std::int8_t>(at) + kBlockCols * t; }
    float scale(int t) const { return as<float>(at + kBlockCols * T)[t]; }
    float scaled_sum(int t) const { return as<float>(at + (kBlockCols + 4) * T)[t]; }
};

// Vector V of a block's nibbles, fifth and sixth bits included: low is columns 4 V .. 4 V + 3,
// high is columns 16 + 4 V ...
struct Pair {
    simd::Quads low;
    simd::Quads high;
};
template <int kBits, int V>
inline Pair unpack(const std::uint8_t* quants, int part) {
    const simd::Quads x = simd::quads_load(quants + kVectorBytes * V, part);
    Pair out = {simd::bits<0, 15>(x), simd::bits<-4, 15>(x)};
    if constexpr (kBits == 5) {
        const simd::Quads h = simd::quads_load(quants + kVectorBytes * 4, part);
        out.low = simd::either(out.low, simd::bits<4 - V, 16>(h));
        out.high = simd::either(out.high, simd::bits<-V, 16>(h));
    }
    if constexpr (kBits == 6) {
        const simd::Quads low = simd::quads_load(quants + kVectorBytes * 4, part);
        const simd::Quads high = simd::quads_load(quants + kVectorBytes * 5, part);
        out.low = simd::either(out.low, simd::bits<4 - 2 * V, 48>(low));
        out.high = simd::either(out.high, simd::bits<4 - 2 * V, 48>(high));
    }
    return out;
}

template <int kBits, int T>
struct Sums {
    simd::Sum<kBits> of[T];
};

// 8 columns of 8-bit weights, from column 8 V.
template <int V, int T>
inline void add_bytes(const std::uint8_t* quants, int part, PanelBlock<T> panel, Sums<8, T>& sums) {
    const simd::Quads w0 = simd::eight_bits(simd::quads_load(quants + kVectorBytes * 2 * V, part));
    const simd::Quads w1 =
        simd::eight_bits(simd::quads_load(quants + kVectorBytes * (2 * V + 1), part));
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        simd::sum_add<8>(sums.of[t], w0, panel.q(t) + 8 * V, w1, panel.q(t) + 8 * V + 4);
}

// Vector V of 4- or 5-bit weights: 4 columns of each half.
template <int kBits, int V, int T>
inline void add_nibbles(const std::uint8_t* quants, int part, PanelBlock<T> panel,
                        Sums<kBits, T>& sums) {
    const Pair w = unpack<kBits, V>(quants, part);
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        simd::sum_add<kBits>(sums.of[t], w.low, panel.q(t) + 4 * V, w.high,
                             panel.q(t) + 16 + 4 * V);
}

// The sums of a block of 32 columns.
template <typename F, int T>
inline void block_sums(const std::uint8_t* quants, int part, PanelBlock<T> panel,
                       simd::Rows (&dot)[T]) {
    Sums<F::kBits, T> sums;
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        sums.of[t] = simd::sum_start<F::kBits>(F::kStart < 0 ? nullptr : panel.starts + t);
    if constexpr (F::kBits == 8) {
        add_bytes<0>(quants, part, panel, sums);
        add_bytes<1>(quants, part, panel, sums);
        add_bytes<2>(quants, part, panel, sums);
        add_bytes<3>(quants, part, panel, sums);
    } else {
        add_nibbles<F::kBits, 0>(quants, part, panel, sums);
        add_nibbles<F::kBits, 1>(quants, part, panel, sums);
        add_nibbles<F::kBits, 2>(quants, part, panel, sums);
        add_nibbles<F::kBits, 3>(quants, part, panel, sums);
    }
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        dot[t] = simd::sum_end<F::kBits>(sums.of[t], F::kStart < 0 ? nullptr : panel.starts + t);
}

// Q6_K: the sums of columns 0..15 or 16..31 apart, for each half has a scale of its own.
template <bool kHigh, int T>
inline void half_sums(const std::uint8_t* quants, int part, PanelBlock<T> panel,
                      simd::Rows (&dot)[T]) {
    const std::int32_t* starts = panel.starts + (kHigh ? panel.next_kind : 0);
    constexpr int kAt = kHigh ? 16 : 0;
    Sums<6, T> sums;
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t) sums.of[t] = simd::sum_start<6>(starts + t);
    const Pair a = unpack<6, 0>(quants, part);
    const Pair b = unpack<6, 1>(quants, part);
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        simd::sum_add<6>(sums.of[t], kHigh ? a.high : a.low, panel.q(t) + kAt,
                         kHigh ? b.high : b.low, panel.q(t) + kAt + 4);
    const Pair c = unpack<6, 2>(quants, part);
    const Pair d = unpack<6, 3>(quants, part);
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        simd::sum_add<6>(sums.of[t], kHigh ? c.high : c.low, panel.q(t) + kAt + 8,
                         kHigh ? d.high : d.low, panel.q(t) + kAt + 12);
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t) dot[t] = simd::sum_end<6>(sums.of[t], starts + t);
}

// A register of rows: its place in the group, and its output.
struct RowsAt {
    const std::uint8_t* scales;
    const std::uint8_t* quants;
    int part;
};

inline RowsAt rows_at(const PackedRows& weight, int index) {
    constexpr int kParts = kGroupRows / simd::kLanes;
    const std::uint8_t* group =
        weight.data + weight.group_bytes * static_cast<std::size_t>(index / kParts);
    return {group, group + weight.quants_at, index % kParts};
}

// fma(fl(scale * da), dot, acc) for every token.
template <int T>
inline void add_scaled(simd::Rows scale, PanelBlock<T> panel, const simd::Rows (&dot)[T],
                       simd::Rows (&acc)[T]) {
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        acc[t] =
            simd::rows_fma(simd::rows_mul(scale, simd::rows_set(panel.scale(t))), dot[t], acc[t]);
}

template <int T>
inline void add_minimum(simd::Rows minimum, PanelBlock<T> panel, simd::Rows (&acc)[T]) {
    HEARTH_UNROLL
    for (int t = 0; t < T; ++t)
        acc[t] = simd::rows_fma(minimum, simd::rows_set(panel.scaled_sum(t)), acc[t]);
}

// One block of one register of rows.
template <typename F, int T>
inline void block_step(const RowsAt& rows, int block, PanelBlock<T> panel, simd::Rows (&acc)[T]) {
    constexpr int kQuantBytes = block_quant_bytes(F::kBits);
    const std::uint8_t* quants = rows.quants + kQuantBytes * block;
    simd::Rows dot[T];
    if constexpr (!F::kSuper) {
        const std::uint8_t* scales = rows.scales + (F::kMinimum ? 64 : 32) * block;
        block_sums<F>(quants, rows.part, panel, dot);
        add_scaled(simd::rows_f16(scales, rows.part), panel, dot, acc);
        if constexpr (F::kMinimum) add_minimum(simd::rows_f16(scales + 32, rows.part), panel, acc);
    } else if constexpr (F::kBits == 6) {
        const std::uint8_t* unit = rows.scales + (32 + 256) * (block / kSuperBlocks);
        const std::uint8_t* scales = unit + 32 + 32 * (block % kSuperBlocks);
        const simd::Rows d = simd::rows_f16(unit, rows.part);
        half_sums<false>(quants, rows.part, panel, dot);
        add_scaled(simd::rows_mul(d, simd::rows_i8(scales, rows.part)), panel, dot, acc);
        half_sums<true>(quants, rows.part, panel, dot);
        add_scaled(simd::rows_mul(d, simd::rows_i8(scales + 16, rows.part)), panel, dot, acc);
    } else {
        const std::uint8_t* unit = rows.scales + (64 + 256) * (block / kSuperBlocks);
        const std::uint8_t* scales = unit + 64 + 32 * (block % kSuperBlocks);
        const simd::Rows d = simd::rows_f16(unit, rows.part);
        const simd::Rows dmin = simd::rows_f16(unit + 32, rows.part);
        block_sums<F>(quants, rows.part, panel, dot);
        add_scaled(simd::rows_mul(d, simd::rows_u8(scales, rows.part)), panel, dot, acc);
        const simd::Rows m = simd::rows_mul(dmin, simd::rows_u8(scales + 16, rows.part));
        add_minimum(simd::rows_negate(m), panel, acc);
    }
}

// Stores, or adds to, the rows of one register for one token; the last register may have fewer.
inline void put_rows(float* out, simd::Rows acc, int rows, bool add) {
    if (rows >= simd::kLanes) {
        simd::rows_store(out, add ? simd::rows_add(simd::rows_load(out), acc) : acc);
        return;
    }
    float lanes[simd::kLanes];
    simd::rows_store(lanes, acc);
    for (int i = 0; i < rows; ++i) out[i] = add ? out[i] + lanes[i] : lanes[i];
}

// T tokens of one panel by G registers of rows, from register `index` of the weight.
template <typename F, int T, int G>
void tile(const ProductArgs& args, int index, int token) {
    const PackedRows& weight = *args.weight;
    const int blocks = weight.cols / kBlockCols;
    RowsAt rows[G];
    simd::Rows acc[G][T];
    HEARTH_UNROLL
    for (int g = 0; g < G; ++g) {
        rows[g] = rows_at(weight, index + g);
        HEARTH_UNROLL
        for (int t = 0; t < T; ++t) acc[g][t] = simd::rows_zero();
    }
    const std::uint8_t* first = args.rounded + static_cast<std::size_t>(kTokenBytes) *
                                                   static_cast<std::size_t>(token) *
                                                   static_cast<std::size_t>(blocks);
    PanelBlock<T> panel = {first,
                           as<std::int32_t>(first + kRoundedBytes * T * blocks) +
                               (F::kStart > 0 ? F::kStart * T * blocks : 0),
                           T * blocks};
    for (int b = 0; b < blocks; ++b, panel.at += kRoundedBytes * T, panel.starts += T) {
        HEARTH_UNROLL
        for (int g = 0; g < G; ++g) {
            block_step<F, T>(rows[g], b, panel, acc[g]);
        }
    }
    float* out = args.out + args.stride * (token - args.panels.first(args.first_panel));
    HEARTH_UNROLL
    for (int g = 0; g < G; ++g) {
        const int row = (index + g) * simd::kLanes;
        HEARTH_UNROLL
        for (int t = 0; t < T; ++t)
            put_rows(out + args.stride * t + args.column + row, acc[g][t], weight.rows - row,
                     args.add);
    }
}

}  // namespace
}  // namespace hearth::cpu
