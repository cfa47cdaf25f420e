#include "tests/engine/ops/talk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace hearth::test {
namespace {

constexpr int kLayers = 2;
constexpr int kLayer = 1;

// Pages of all sequences, dealt in an order that mixes them: 7 is prime to the number of pages.
std::vector<std::vector<std::int32_t>> deal_pages(const std::vector<Talk>& talks, int& pages) {
    std::vector<std::vector<std::int32_t>> dealt;
    pages = 0;
    for (const Talk& talk : talks) pages += ceil_div(talk.q.rows, kPagePositions);
    if (pages % 7 == 0) pages += 1;
    int next = 3;
    for (const Talk& talk : talks) {
        std::vector<std::int32_t> own;
        for (int i = 0; i < ceil_div(talk.q.rows, kPagePositions); ++i, next += 7)
            own.push_back(next % pages);
        dealt.push_back(std::move(own));
    }
    return dealt;
}

Matrix joined(const std::vector<Matrix>& parts, int cols) {
    Matrix all(0, cols);
    for (const Matrix& part : parts) {
        all.rows += part.rows;
        all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    }
    return all;
}

// NaN everywhere: whoever reads a position that was never stored will show it.
void poison(Ops& ops, KvMemory& kv) {
    SequenceSpec spec{.context = 0, .rows = kv.shape.pages * kPagePositions, .pages = {}};
    for (int page = 0; page < kv.shape.pages; ++page) spec.pages.push_back(page);
    const int rows = spec.rows;
    const Step step({std::move(spec)});
    Matrix nan(rows, kv.shape.heads * kv.shape.head_dim);
    std::ranges::fill(nan.values, std::numeric_limits<float>::quiet_NaN());
    const Buffer buffer = put(ops, nan);
    ops.begin_step(step.input());
    for (int layer = 0; layer < kLayers; ++layer) ops.store_kv(kv, layer, buffer.view, buffer.view);
    HEARTH_CHECK(ops.finish().has_value());
}

class Stage {
public:
    Stage(Ops& ops, const AttentionShape& shape, const std::vector<Talk>& talks)
        : ops_(ops), config_(shape.config()), talks_(talks), done_(talks.size(), 0) {
        int pages = 0;
        pages_ = deal_pages(talks, pages);
        auto kv = ops.allocate_kv({.layers = kLayers,
                                   .heads = shape.kv_heads,
                                   .head_dim = shape.head_dim,
                                   .key_type = shape.key_type,
                                   .value_type = shape.value_type,
                                   .pages = pages});
        HEARTH_CHECK(kv.has_value());
        kv_ = *std::move(kv);
        poison(ops, kv_);
        for (const Talk& talk : talks) outputs_.emplace_back(talk.q.rows, talk.q.cols);
    }

    void play(const TalkStep& turn) {
        std::vector<SequenceSpec> specs;
        std::vector<Matrix> q;
        std::vector<Matrix> k;
        std::vector<Matrix> v;
        for (std::size_t i = 0; i < talks_.size(); ++i) {
            const int rows = turn.rows[i];
            if (rows == 0) continue;
            specs.push_back({.context = done_[i], .rows = rows, .pages = pages_[i]});
            q.push_back(talks_[i].q.slice(done_[i], rows));
            k.push_back(talks_[i].k.slice(done_[i], rows));
            v.push_back(talks_[i].v.slice(done_[i], rows));
        }
        const Step step(std::move(specs));
        const int q_cols = config_.heads * config_.head_dim;
        const int kv_cols = config_.kv_heads * config_.head_dim;
        const Buffer queries = put(ops_, joined(q, q_cols));
        const Buffer keys = put(ops_, joined(k, kv_cols));
        const Strided values = put_strided(ops_, joined(v, kv_cols));
        const Buffer out = empty(ops_, step.rows(), q_cols);
        ops_.begin_step(step.input());
        ops_.store_kv(kv_, kLayer, keys.view, values.view);
        if (turn.attends) ops_.attend(kv_, kLayer, config_, queries.view, out.view);
        HEARTH_CHECK(ops_.finish().has_value());
        if (turn.attends) keep(turn, get(ops_, out.view));
        for (std::size_t i = 0; i < talks_.size(); ++i) done_[i] += turn.rows[i];
    }

    std::vector<Matrix> outputs() && { return std::move(outputs_); }

private:
    void keep(const TalkStep& turn, const Matrix& out) {
        int row = 0;
        for (std::size_t i = 0; i < talks_.size(); ++i)
            for (int r = 0; r < turn.rows[i]; ++r)
                std::copy_n(out.row(row++), out.cols, outputs_[i].row(done_[i] + r));
    }

    Ops& ops_;
    AttentionConfig config_;
    const std::vector<Talk>& talks_;
    std::vector<int> done_;
    std::vector<std::vector<std::int32_t>> pages_;
    KvMemory kv_;
    std::vector<Matrix> outputs_;
};

}  // namespace

AttentionConfig AttentionShape::config() const {
    return {.heads = heads,
            .kv_heads = kv_heads,
            .head_dim = head_dim,
            .scale = 1.0F / std::sqrt(static_cast<float>(head_dim))};
}

Talk random_talk(const AttentionShape& shape, int length, unsigned seed) {
    const int kv_cols = shape.kv_heads * shape.head_dim;
    // Queries of size 2 make scores of about 2: some positions matter, none alone.
    return {.q = random_matrix(length, shape.heads * shape.head_dim, seed, 2.0F),
            .k = random_matrix(length, kv_cols, seed + 1),
            .v = random_matrix(length, kv_cols, seed + 2)};
}

std::vector<Matrix> play(Ops& ops, const AttentionShape& shape, const std::vector<Talk>& talks,
                         const std::vector<TalkStep>& steps) {
    Stage stage(ops, shape, talks);
    for (const TalkStep& step : steps) stage.play(step);
    return std::move(stage).outputs();
}

}  // namespace hearth::test
