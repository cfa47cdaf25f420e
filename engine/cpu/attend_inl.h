// One chunk of attention for a few query vectors that share a head of keys: included once per
// instruction set, which first names its words `simd`.
//
//   keys     pages of [head_dim][16 positions]: lanes are positions
//   values   pages of [16 positions][head_dim]: lanes are channels
//   work     a key or value is converted once for all query vectors of a tile
//   numbers  scores: chains over channels; values: chains over visible positions; exp and sums as
//            engine/ops/README.md says
namespace hearth::cpu {
namespace {

constexpr int kPage = 16;
constexpr int kChunk = 256;

struct StoredF32 {
    static constexpr int kBytes = 4;
    static simd::Wide load(const std::uint8_t* at) { return simd::load(as<float>(at)); }
};
struct StoredF16 {
    static constexpr int kBytes = 2;
    static simd::Wide load(const std::uint8_t* at) { return simd::from_f16(at); }
};

// Scores of R query vectors from `query` at P pages from `page`.
template <typename Stored, int R, int P>
void score_tile(const AttendChunkArgs& args, int query, int page) {
    const std::uint8_t* keys[P];
    simd::Wide acc[P][R];
    HEARTH_UNROLL
    for (int p = 0; p < P; ++p) {
        keys[p] = args.keys + args.key_page_bytes * static_cast<std::size_t>(args.pages[page + p]);
        HEARTH_UNROLL
        for (int r = 0; r < R; ++r) acc[p][r] = simd::zero();
    }
    const float* q = args.q + query;
    for (int c = 0; c < args.head_dim; ++c, q += kMaxQueries) {
        simd::Wide k[P];
        HEARTH_UNROLL
        for (int p = 0; p < P; ++p) k[p] = Stored::load(keys[p] + kPage * Stored::kBytes * c);
        HEARTH_UNROLL
        for (int r = 0; r < R; ++r) {
            const simd::Wide value = simd::set(q[r]);
            HEARTH_UNROLL
            for (int p = 0; p < P; ++p) acc[p][r] = simd::fma(value, k[p], acc[p][r]);
        }
    }
    const simd::Wide scale = simd::set(args.scale);
    HEARTH_UNROLL
    for (int r = 0; r < R; ++r) {
        float* scores = args.scores + kChunk * (query + r) + kPage * page;
        HEARTH_UNROLL
        for (int p = 0; p < P; ++p) simd::store(scores + kPage * p, simd::mul(acc[p][r], scale));
    }
}

template <typename Stored, int R>
void scores_of(const AttendChunkArgs& args, int query) {
    constexpr int P = simd::score_pages<R>();
    const int pages = (args.visible[query + R - 1] + kPage - 1) / kPage;
    int page = 0;
    for (; page + P <= pages; page += P) score_tile<Stored, R, P>(args, query, page);
    if constexpr (P > 1)
        for (; page < pages; ++page) score_tile<Stored, R, 1>(args, query, page);
}

template <typename Stored>
void all_scores(const AttendChunkArgs& args) {
    int query = 0;
    for (; query + simd::kScoreTile <= args.queries; query += simd::kScoreTile)
        scores_of<Stored, simd::kScoreTile>(args, query);
    if (simd::kScoreTile > 6 && query + 6 <= args.queries) {
        scores_of<Stored, 6>(args, query);
        query += 6;
    }
    for (; query + 3 <= args.queries; query += 3) scores_of<Stored, 3>(args, query);
    for (; query < args.queries; ++query) scores_of<Stored, 1>(args, query);
}

// Scores of one query vector to exp(score - maximum), zeros to the end of the last page.
void soften(const AttendChunkArgs& args, int query) {
    float* scores = args.scores + kChunk * query;
    const int visible = args.visible[query];
    const int whole = visible / kPage * kPage;
    const int rest = visible - whole;
    simd::Wide most = simd::set(-__builtin_inff());
    for (int i = 0; i < whole; i += kPage) most = simd::max(most, simd::load(scores + i));
    if (rest > 0) {
        const simd::Wide last = simd::first_of(simd::load(scores + whole), rest, most);
        most = simd::max(most, last);
    }
    const float maximum = simd::largest(most);
    const simd::Wide shift = simd::set(maximum);
    simd::Wide sum = simd::zero();
    for (int i = 0; i < whole; i += kPage) {
        const simd::Wide e = exp_wide(simd::sub(simd::load(scores + i), shift));
        simd::store(scores + i, e);
        sum = simd::add(sum, e);
    }
    if (rest > 0) {
        const simd::Wide e = exp_wide(simd::sub(simd::load(scores + whole), shift));
        sum = simd::add(sum, simd::first_of(e, rest, simd::zero()));
        simd::store(scores + whole, e);
    }
    args.maximum[query] = maximum;
    args.sum[query] = simd::fold(sum);
}

struct Span {
    int first;  // positions of the chunk
    int last;
};

// Adds positions to the values of R query vectors, C sixteens of channels from `channel`; the
// chains begin at position 0 and are otherwise continued.
template <typename Stored, int R, int C>
void value_tile(const AttendChunkArgs& args, int query, int channel, Span span) {
    simd::Wide acc[R][C];
    float* mixed = args.mixed + args.mixed_stride * query + channel;
    HEARTH_UNROLL
    for (int r = 0; r < R; ++r) {
        HEARTH_UNROLL
        for (int c = 0; c < C; ++c)
            acc[r][c] =
                span.first == 0 ? simd::zero() : simd::load(mixed + args.mixed_stride * r + 16 * c);
    }
    const std::size_t row_bytes = static_cast<std::size_t>(args.head_dim) * Stored::kBytes;
    for (int i = span.first; i < span.last;) {
        const std::uint8_t* row =
            args.values + args.value_page_bytes * static_cast<std::size_t>(args.pages[i / kPage]) +
            row_bytes * static_cast<std::size_t>(i % kPage) +
            static_cast<std::size_t>(channel) * Stored::kBytes;
        const int page_end = (i / kPage + 1) * kPage;
        const int end = page_end < span.last ? page_end : span.last;
        for (; i < end; ++i, row += row_bytes) {
            simd::Wide v[C];
            HEARTH_UNROLL
            for (int c = 0; c < C; ++c) v[c] = Stored::load(row + 16 * Stored::kBytes * c);
            HEARTH_UNROLL
            for (int r = 0; r < R; ++r) {
                const simd::Wide e = simd::set(args.scores[kChunk * (query + r) + i]);
                HEARTH_UNROLL
                for (int c = 0; c < C; ++c) acc[r][c] = simd::fma(e, v[c], acc[r][c]);
            }
        }
    }
    HEARTH_UNROLL
    for (int r = 0; r < R; ++r) {
        HEARTH_UNROLL
        for (int c = 0; c < C; ++c) simd::store(mixed + args.mixed_stride * r + 16 * c, acc[r][c]);
    }
}

template <typename Stored, int R>
void value_span(const AttendChunkArgs& args, int query, Span span) {
    constexpr int C = simd::value_wides<R>();
    int channel = 0;
    for (; channel + 16 * C <= args.head_dim; channel += 16 * C)
        value_tile<Stored, R, C>(args, query, channel, span);
    for (; channel < args.head_dim; channel += 16)
        value_tile<Stored, R, 1>(args, query, channel, span);
}

// What all R see together, then what the later ones see beyond, in threes where three see the same:
// mostly the heads of one row.
template <typename Stored, int R>
void values_of(const AttendChunkArgs& args, int query) {
    const int common = args.visible[query];
    value_span<Stored, R>(args, query, {0, common});
    for (int r = 1; r < R;) {
        const int* visible = args.visible + query + r;
        const bool three = r + 3 <= R && visible[0] == visible[2];
        const Span more = {common, visible[0]};
        if (more.first < more.last && three) value_span<Stored, 3>(args, query + r, more);
        if (more.first < more.last && !three) value_span<Stored, 1>(args, query + r, more);
        r += three ? 3 : 1;
    }
}

template <typename Stored>
void all_values(const AttendChunkArgs& args) {
    int query = 0;
    for (; query + simd::kValueTile <= args.queries; query += simd::kValueTile)
        values_of<Stored, simd::kValueTile>(args, query);
    for (; query + 3 <= args.queries; query += 3) values_of<Stored, 3>(args, query);
    for (; query < args.queries; ++query) values_of<Stored, 1>(args, query);
}

void attend_chunk(const AttendChunkArgs& args) {
    if (args.key_type == DType::f16)
        all_scores<StoredF16>(args);
    else
        all_scores<StoredF32>(args);
    for (int query = 0; query < args.queries; ++query) soften(args, query);
    if (args.value_type == DType::f16)
        all_values<StoredF16>(args);
    else
        all_values<StoredF32>(args);
}

void merge_chunks(const MergeArgs& args) {
    const float now = *args.maximum > args.next_maximum ? *args.maximum : args.next_maximum;
    float shifts[16] = {*args.maximum - now, args.next_maximum - now};
    simd::store(shifts, exp_wide(simd::load(shifts)));
    const simd::Wide old_part = simd::set(shifts[0]);
    const simd::Wide next_part = simd::set(shifts[1]);
    *args.maximum = now;
    *args.sum = __builtin_fmaf(*args.sum, shifts[0], args.next_sum * shifts[1]);
    for (int c = 0; c < args.channels; c += 16) {
        const simd::Wide next = simd::mul(simd::load(args.next_mixed + c), next_part);
        simd::store(args.mixed + c, simd::fma(simd::load(args.mixed + c), old_part, next));
    }
}

}  // namespace
}  // namespace hearth::cpu
