#include "engine/ops/shape_checks.h"

#include "engine/base/check.h"

namespace hearth::shape_checks {
namespace {

bool same_shape(View a, View b) { return a.rows == b.rows && a.cols == b.cols; }

}  // namespace

void step(const StepInput& step) {
    int next = 0;
    for (const SequenceRows& sequence : step.sequences) {
        HEARTH_CHECK(sequence.first_row == next && sequence.rows > 0 && sequence.context >= 0);
        const int positions = sequence.context + sequence.rows;
        HEARTH_CHECK(static_cast<int>(sequence.pages.size()) * kPagePositions >= positions);
        next += sequence.rows;
    }
    HEARTH_CHECK(next == static_cast<int>(step.tokens.size()));
    int previous = -1;
    for (const std::int32_t row : step.sampled_rows) {
        HEARTH_CHECK(row > previous && row < next);
        previous = row;
    }
}

void segments(std::span<const RowSegment> segments, int cols) {
    HEARTH_CHECK(!segments.empty() && cols > 0);
    for (const RowSegment& segment : segments) {
        HEARTH_CHECK(segment.rows > 0 && cols % dtype_info(segment.type).block_elements == 0);
        const auto row = row_bytes(segment.type, static_cast<std::uint64_t>(cols)).value();
        HEARTH_CHECK(row && segment.blocks.size() == *row * static_cast<std::size_t>(segment.rows));
    }
}

void embed(const StepInput& step, const Weight& table, View out) {
    HEARTH_CHECK(out.rows == static_cast<int>(step.tokens.size()) && out.cols == table.cols);
    for (const std::int32_t token : step.tokens) HEARTH_CHECK(token >= 0 && token < table.rows);
}

void rms_norm(View x, View norm, View out) {
    HEARTH_CHECK(same_shape(x, out) && norm.rows == 1 && norm.cols == x.cols);
}

void matmul(const Weight& w, View x, View out) {
    HEARTH_CHECK(x.cols == w.cols && out.cols == w.rows && out.rows == x.rows);
}

void add(View x, View out) { HEARTH_CHECK(same_shape(x, out)); }

void rope(const RopeTable& table, int heads, int head_dim, View x) {
    HEARTH_CHECK(heads > 0 && x.cols == heads * head_dim && table.dims() <= head_dim);
}

void store_kv(const StepInput& step, const KvShape& shape, int layer, View k, View v) {
    HEARTH_CHECK(layer >= 0 && layer < shape.layers);
    HEARTH_CHECK(k.rows == static_cast<int>(step.tokens.size()) && same_shape(k, v));
    HEARTH_CHECK(k.cols == shape.heads * shape.head_dim);
    for (const SequenceRows& sequence : step.sequences)
        for (const std::int32_t page : sequence.pages)
            HEARTH_CHECK(page >= 0 && page < shape.pages);
}

void attend(const StepInput& step, const KvShape& shape, const AttentionConfig& config, View q,
            View out) {
    HEARTH_CHECK(q.rows == static_cast<int>(step.tokens.size()) && same_shape(q, out));
    HEARTH_CHECK(q.cols == config.heads * config.head_dim);
    HEARTH_CHECK(config.kv_heads == shape.heads && config.head_dim == shape.head_dim);
    HEARTH_CHECK(config.heads % config.kv_heads == 0);
}

void silu_mul(View gate_up, View out) {
    HEARTH_CHECK(gate_up.rows == out.rows && gate_up.cols == 2 * out.cols);
}

void gather_rows(const StepInput& step, View x, View out) {
    HEARTH_CHECK(x.rows == static_cast<int>(step.tokens.size()) && x.cols == out.cols);
    HEARTH_CHECK(out.rows == static_cast<int>(step.sampled_rows.size()));
}

}  // namespace hearth::shape_checks
