// Products of F32, F16 and BF16 weights with plain activations: included once per instruction set.
//
//   weight   per column 16 neighbouring rows; panel: per column T tokens
//   work     T tokens by G registers of rows
//   numbers  one chain acc = fma(w, x, acc) over columns in ascending order
namespace hearth::cpu {
namespace {

struct PlainF32 {
    static constexpr int kColumnBytes = 64;
    static simd::Rows load(const std::uint8_t* at, int part) { return simd::rows_f32(at, part); }
};
struct PlainF16 {
    static constexpr int kColumnBytes = 32;
    static simd::Rows load(const std::uint8_t* at, int part) { return simd::rows_f16(at, part); }
};
struct PlainBf16 {
    static constexpr int kColumnBytes = 32;
    static simd::Rows load(const std::uint8_t* at, int part) { return simd::rows_bf16(at, part); }
};

template <typename F, int T, int G>
void plain_tile(const ProductArgs& args, int index, int token) {
    const PackedRows& weight = *args.weight;
    RowsAt rows[G];
    simd::Rows acc[G][T];
    HEARTH_UNROLL
    for (int g = 0; g < G; ++g) {
        rows[g] = rows_at(weight, index + g);
        HEARTH_UNROLL
        for (int t = 0; t < T; ++t) acc[g][t] = simd::rows_zero();
    }
    const float* x = args.plain + static_cast<std::int64_t>(token) * weight.cols;
    for (int c = 0; c < weight.cols; ++c, x += T) {
        HEARTH_UNROLL
        for (int g = 0; g < G; ++g) {
            const simd::Rows w = F::load(rows[g].quants + F::kColumnBytes * c, rows[g].part);
            HEARTH_UNROLL
            for (int t = 0; t < T; ++t)
                acc[g][t] = simd::rows_fma(w, simd::rows_set(x[t]), acc[g][t]);
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
