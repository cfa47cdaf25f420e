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

// One block of 32 of one token, into lane t of a panel of `size` tokens.
inline void round_block_at(simd::Wide a, simd::Wide b, int t, int size, std::uint8_t* block) {
    std::int8_t* q = as<std::int8_t>(block) + kBlockCols * t;
    const std::uint32_t largest = simd::largest_magnitude(a, b);
    float scale = 0.0F;
    int low = 0;
    int high = 0;
    if (largest >= kInfinityBits || largest < kSmallestRoundedBits) {
        if (largest >= kInfinityBits) scale = __builtin_nanf("");
        __builtin_memset(q, 0, kBlockCols);
    } else {
        __builtin_memcpy(&scale, &largest, sizeof scale);
        scale = scale / 127.0F;
        const simd::Wide inverse = simd::set(1.0F / scale);
        low = simd::round_to_bytes(simd::mul(a, inverse), q);
        high = simd::round_to_bytes(simd::mul(b, inverse), q + 16);
    }
    const int sum = low + high;
    as<float>(block + kBlockCols * size)[t] = scale;
    as<float>(block + (kBlockCols + 4) * size)[t] = scale * static_cast<float>(sum);
    std::int32_t* start = as<std::int32_t>(block + (kBlockCols + 8) * size) + t;
    start[kStart8 * size] = -8 * sum;
    start[kStart16 * size] = -16 * sum;
    start[kStart128 * size] = -128 * sum;
    start[kStart32Low * size] = -32 * low;
    start[kStart32High * size] = -32 * high;
}

// Rows of activations to what products read, normed on the way when there is a norm.
void prepare_rows(const PrepareArgs& args) {
    for (int token = args.first; token < args.last; ++token) {
        const float* x = args.x + args.stride * token;
        const int panel = args.panels.of_token(token);
        const int size = args.panels.size(panel);
        const int first = args.panels.first(panel);
        const int lane = token - first;
        const bool normed = args.norm != nullptr;
        const float factor = normed ? norm_scale(x, args.cols, args.eps) : 1.0F;
        const simd::Wide scale = simd::set(factor);
        const auto value = [&](int c) {
            const simd::Wide v = simd::load(x + c);
            return normed ? simd::mul(simd::mul(v, scale), simd::load(args.norm + c)) : v;
        };
        const std::int64_t at = static_cast<std::int64_t>(first) * args.cols;
        if (args.rounded != nullptr) {
            std::uint8_t* block = args.rounded + at / kBlockCols * kTokenBytes;
            for (int c = 0; c < args.cols; c += kBlockCols, block += kTokenBytes * size)
                round_block_at(value(c), value(c + 16), lane, size, block);
        }
        if (args.plain != nullptr) {
            float* out = args.plain + at + lane;
            for (int c = 0; c < args.cols; ++c) {
                const float v = normed ? (x[c] * factor) * args.norm[c] : x[c];
                out[static_cast<std::int64_t>(c) * size] = v;
            }
        }
    }
}

}  // namespace
}  // namespace hearth::cpu
