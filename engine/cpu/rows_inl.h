// Element-wise work on rows of activations: norms, rounding, rope, gates. Included once per
// instruction set, which first names its words `simd`.
//
//   numbers  engine/ops/README.md and engine/ops/math.h: the same steps, lane by lane
namespace hearth::cpu {
namespace {

inline simd::Wide exp_wide(simd::Wide x) {
    x = simd::min(simd::set(kExpMax), simd::max(simd::set(kExpMin), x));
    const simd::Wide magic = simd::set(kRoundMagic);
    const simd::Wide n = simd::sub(simd::add(simd::mul(x, simd::set(kLog2E)), magic), magic);
    simd::Wide r = simd::fma(n, simd::set(-kLn2Hi), x);
    r = simd::fma(n, simd::set(-kLn2Lo), r);
    simd::Wide p = simd::set(kExpC6);
    p = simd::fma(p, r, simd::set(kExpC5));
    p = simd::fma(p, r, simd::set(kExpC4));
    p = simd::fma(p, r, simd::set(kExpC3));
    p = simd::fma(p, r, simd::set(kExpC2));
    p = simd::fma(p, r, simd::set(1.0F));
    p = simd::fma(p, r, simd::set(1.0F));
    return simd::scale_by_power(p, n);
}

inline simd::Wide silu_wide(simd::Wide x) {
    const simd::Wide e = exp_wide(simd::sub(simd::zero(), x));
    return simd::div(x, simd::add(simd::set(1.0F), e));
}

// fl(1 / sqrt(fl(fl(s / cols) + eps))), s in 16 partials.
float norm_scale(const float* x, int cols, float eps) {
    simd::Wide squares = simd::zero();
    int i = 0;
    for (; i + 16 <= cols; i += 16) {
        const simd::Wide v = simd::load(x + i);
        squares = simd::fma(v, v, squares);
    }
    if (i < cols) {
        const simd::Wide v = simd::load_first(x + i, cols - i);
        squares = simd::fma(v, v, squares);
    }
    return 1.0F / __builtin_sqrtf(simd::fold(squares) / static_cast<float>(cols) + eps);
}

void rms_norm(const float* x, const float* norm, float eps, int cols, float* out) {
    const simd::Wide scale = simd::set(norm_scale(x, cols, eps));
    int i = 0;
    for (; i + 16 <= cols; i += 16)
        simd::store(out + i, simd::mul(simd::mul(simd::load(x + i), scale), simd::load(norm + i)));
    if (i < cols) {
        const int n = cols - i;
        const simd::Wide v = simd::mul(simd::load_first(x + i, n), scale);
        simd::store_first(out + i, simd::mul(v, simd::load_first(norm + i, n)), n);
    }
}

void add_rows(const float* x, int n, float* out) {
    int i = 0;
    for (; i + 16 <= n; i += 16)
        simd::store(out + i, simd::add(simd::load(out + i), simd::load(x + i)));
    for (; i < n; ++i) out[i] += x[i];
}

void silu_mul(const float* gate, const float* up, int n, float* out) {
    int i = 0;
    for (; i + 16 <= n; i += 16)
        simd::store(out + i, simd::mul(silu_wide(simd::load(gate + i)), simd::load(up + i)));
    if (i < n) {
        const simd::Wide v = silu_wide(simd::load_first(gate + i, n - i));
        simd::store_first(out + i, simd::mul(v, simd::load_first(up + i, n - i)), n - i);
    }
}

void rope_row(const RopeArgs& args) {
    const int half = args.dims / 2;
    const int step = args.interleaved ? 2 : 1;
    const int apart = args.interleaved ? 1 : half;
    for (int h = 0; h < args.heads; ++h) {
        float* x = args.x + h * args.head_dim;
        for (int i = 0; i < half; ++i) {
            const float a = x[step * i];
            const float b = x[step * i + apart];
            const float bs = b * args.sines[i];
            const float bc = b * args.cosines[i];
            x[step * i] = __builtin_fmaf(a, args.cosines[i], -bs);
            x[step * i + apart] = __builtin_fmaf(a, args.sines[i], bc);
        }
    }
}

void to_f16_row(const float* x, int n, std::uint16_t* out) {
    int i = 0;
    for (; i + 16 <= n; i += 16) simd::to_f16(out + i, simd::load(x + i));
    if (i == n) return;
    std::uint16_t last[16];
    simd::to_f16(last, simd::load_first(x + i, n - i));
    for (int j = 0; i + j < n; ++j) out[i + j] = last[j];
}

void divide_row(const float* x, float by, int n, float* out) {
    const simd::Wide divisor = simd::set(by);
    int i = 0;
    for (; i + 16 <= n; i += 16) simd::store(out + i, simd::div(simd::load(x + i), divisor));
    if (i < n)
        simd::store_first(out + i, simd::div(simd::load_first(x + i, n - i), divisor), n - i);
}

// 16 blocks of 32 at a time, so that what concerns one number of each block is done in vectors.
constexpr int kRounded = 16;
struct Roundings {
    simd::Wide low[kRounded];  // values of columns 0..15, then 16..31
    simd::Wide high[kRounded];
    std::int8_t* q[kRounded];
    alignas(64) std::uint32_t largest[kRounded];  // magnitude, as bits
    alignas(64) float scale[kRounded];
    alignas(64) float inverse[kRounded];
    alignas(64) float scaled_sum[kRounded];
    alignas(64) std::int32_t low_sum[kRounded];
    alignas(64) std::int32_t sum[kRounded];
};

// Blocks that are zero, or hold a NaN or an infinity: rare, so not in vectors.
void settle_special(int n, Roundings& at) {
    for (int i = 0; i < n; ++i) {
        if (at.largest[i] < kInfinityBits && at.largest[i] >= kSmallestRoundedBits) continue;
        at.scale[i] = at.largest[i] >= kInfinityBits ? __builtin_nanf("") : 0.0F;
        at.inverse[i] = 0.0F;
        at.low[i] = simd::zero();
        at.high[i] = simd::zero();
    }
}

// The first n blocks; `halves` when sums of 16 columns are wanted too.
inline void round_blocks(int n, bool halves, Roundings& at) {
    simd::Ints folded[kRounded];
    for (int i = 0; i < kRounded; ++i)
        folded[i] = i < n ? simd::ints_max(simd::magnitude(at.low[i]), simd::magnitude(at.high[i]))
                          : simd::ints_zero();
    simd::ints_store(at.largest, simd::fold_each<simd::ints_max>(folded));
    const simd::Wide largest = simd::load(static_cast<float*>(static_cast<void*>(at.largest)));
    const simd::Wide scale = simd::div(largest, simd::set(127.0F));
    simd::store(at.scale, scale);
    simd::store(at.inverse, simd::div(simd::set(1.0F), scale));
    bool special = false;
    for (int i = 0; i < n; ++i)
        special |= at.largest[i] >= kInfinityBits || at.largest[i] < kSmallestRoundedBits;
    if (special) settle_special(n, at);

    simd::Ints low[kRounded];
    for (int i = 0; i < n; ++i) {
        const simd::Wide inverse = simd::set(at.inverse[i]);
        low[i] = simd::round_to_bytes(simd::mul(at.low[i], inverse), at.q[i]);
        folded[i] = simd::ints_add(
            low[i], simd::round_to_bytes(simd::mul(at.high[i], inverse), at.q[i] + 16));
    }
    for (int i = n; i < kRounded; ++i) low[i] = simd::ints_zero();
    simd::ints_store(at.sum, simd::fold_each<simd::ints_add>(folded));
    if (halves) simd::ints_store(at.low_sum, simd::fold_each<simd::ints_add>(low));
    for (int i = 0; i < kRounded; ++i)
        at.scaled_sum[i] = at.scale[i] * static_cast<float>(at.sum[i]);
}

// Where a block's numbers go in its panel of `size` tokens.
struct PanelAt {
    std::uint8_t* panel;
    int size;
    int blocks;
};
inline void put_scales(const Roundings& from, int i, PanelAt to, int place, unsigned starts) {
    const int block = place / to.size;
    const int t = place % to.size;
    std::uint8_t* at = to.panel + kRoundedBytes * to.size * block + kBlockCols * to.size;
    as<float>(at)[t] = from.scale[i];
    as<float>(at)[to.size + t] = from.scaled_sum[i];
    if (starts == 0) return;
    const int all = to.size * to.blocks;
    std::int32_t* start = as<std::int32_t>(to.panel + kRoundedBytes * all) + place;
    if ((starts & (1U << kStart8)) != 0) start[all * kStart8] = -8 * from.sum[i];
    if ((starts & (1U << kStart16)) != 0) start[all * kStart16] = -16 * from.sum[i];
    if ((starts & (1U << kStart128)) != 0) start[all * kStart128] = -128 * from.sum[i];
    if ((starts & (1U << kStart32Low)) == 0) return;
    start[all * kStart32Low] = -32 * from.low_sum[i];
    start[all * kStart32High] = -32 * (from.sum[i] - from.low_sum[i]);
}

// One row of a panel: where it lies, and the factor of its norm.
struct NormedRow {
    const float* x;
    float factor;
};

// Rounds a panel of rows.
void round_panel(const PrepareArgs& args, const NormedRow* rows, PanelAt to) {
    Roundings at;
    const int total = to.size * to.blocks;
    const bool halves = (args.starts & (1U << kStart32Low)) != 0;
    int t = 0;
    int c = 0;
    for (int first = 0; first < total; first += kRounded) {
        const int n = total - first < kRounded ? total - first : kRounded;
        for (int i = 0; i < n; ++i) {
            const float* x = rows[t].x + c;
            at.low[i] = simd::load(x);
            at.high[i] = simd::load(x + 16);
            if (args.norm != nullptr) {
                const simd::Wide scale = simd::set(rows[t].factor);
                at.low[i] = simd::mul(simd::mul(at.low[i], scale), simd::load(args.norm + c));
                at.high[i] =
                    simd::mul(simd::mul(at.high[i], scale), simd::load(args.norm + c + 16));
            }
            at.q[i] = as<std::int8_t>(to.panel + kRoundedBytes * to.size * (c / kBlockCols)) +
                      kBlockCols * t;
            if (++t == to.size) {
                t = 0;
                c += kBlockCols;
            }
        }
        round_blocks(n, halves, at);
        for (int i = 0; i < n; ++i) put_scales(at, i, to, first + i, args.starts);
    }
}

// Rows of activations to what products read, normed on the way when there is a norm.
void prepare_panels(const PrepareArgs& args) {
    for (int panel = args.first_panel; panel < args.last_panel; ++panel) {
        const int size = args.panels.size(panel);
        const int first = args.panels.first(panel);
        NormedRow rows[simd::kTileTokens];
        for (int t = 0; t < size; ++t) {
            const float* x = args.x + args.stride * (first + t);
            rows[t] = {x, args.norm == nullptr ? 1.0F : norm_scale(x, args.cols, args.eps)};
        }
        const std::int64_t at = static_cast<std::int64_t>(first) * args.cols;
        if (args.rounded != nullptr)
            round_panel(
                args, rows,
                {args.rounded + at / kBlockCols * kTokenBytes, size, args.cols / kBlockCols});
        if (args.plain == nullptr) continue;
        float* out = args.plain + at;
        for (int c = 0; c < args.cols; ++c)
            for (int t = 0; t < size; ++t) {
                const float x = rows[t].x[c];
                *out++ = args.norm == nullptr ? x : (x * rows[t].factor) * args.norm[c];
            }
    }
}

}  // namespace
}  // namespace hearth::cpu
