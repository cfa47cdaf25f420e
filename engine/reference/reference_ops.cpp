#include "engine/reference/reference_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/check.h"
#include "engine/ops/host_copy.h"
#include "engine/ops/math.h"
#include "engine/ops/shape_checks.h"
#include "engine/reference/attention.h"
#include "engine/reference/products.h"

namespace hearth {
namespace {

struct HostFloats : DeviceMemory {
    AlignedBuffer bytes;
};

// A row of the step: its position, and the pages of its sequence.
struct StepRow {
    int position;
    std::span<const std::int32_t> pages;
};

std::span<float> row_of(View x, int i) { return {x.row(i), static_cast<std::size_t>(x.cols)}; }

const reference::HostWeight& host(const Weight& w) {
    return static_cast<const reference::HostWeight&>(*w.memory);
}

class ReferenceOps final : public Ops {
public:
    std::string description() const override { return "reference, plain loops, 1 thread"; }

    Result<Buffer> allocate(int rows, int cols) override;
    Result<Weight> upload(std::span<const RowSegment> segments, int cols) override;
    Result<KvMemory> allocate_kv(const KvShape& shape) override;
    void write(std::span<const float> from, View to) override;
    void read(View from, std::span<float> to) override;

    void begin_step(const StepInput& step) override;
    Result<void> finish() override { return {}; }

    void embed(const Weight& table, View out) override;
    void rms_norm(View x, View norm, float eps, View out) override;
    void matmul(const Weight& w, View x, View out) override;
    void add(View x, View out) override;
    void rope(const RopeTable& table, int heads, int head_dim, View x) override;
    void store_kv(KvMemory& kv, int layer, View k, View v) override;
    void attend(const KvMemory& kv, int layer, const AttentionConfig& config, View q,
                View out) override;
    void silu_mul(View gate_up, View out) override;
    void gather_rows(View x, View out) override;

protected:
    View scratch(int slot, int rows, int cols) override;

private:
    StepInput step_;
    std::vector<StepRow> rows_;
    std::vector<Buffer> scratch_;
};

Result<Buffer> ReferenceOps::allocate(int rows, int cols) {
    HEARTH_CHECK(rows >= 0 && cols >= 0);
    auto memory = std::make_unique<HostFloats>();
    const std::size_t floats = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    HEARTH_TRY(memory->bytes, AlignedBuffer::allocate(floats * sizeof(float)));
    // reinterpret_cast: the buffer is aligned, owned here and only ever read as floats.
    auto* data = reinterpret_cast<float*>(memory->bytes.data());
    return Buffer{.memory = std::move(memory),
                  .view = {.data = data, .rows = rows, .cols = cols, .stride = cols}};
}

Result<Weight> ReferenceOps::upload(std::span<const RowSegment> segments, int cols) {
    shape_checks::segments(segments, cols);
    HEARTH_TRY(auto memory, reference::HostWeight::make(segments, cols));
    Weight weight{.rows = 0, .cols = cols, .bytes = memory->bytes(), .memory = nullptr};
    for (const RowSegment& segment : segments) weight.rows += segment.rows;
    weight.memory = std::move(memory);
    return weight;
}

Result<KvMemory> ReferenceOps::allocate_kv(const KvShape& shape) {
    HEARTH_TRY(auto memory, reference::HostKv::make(shape));
    const std::size_t bytes = memory->bytes_per_page();
    return KvMemory{.shape = shape, .bytes_per_page = bytes, .memory = std::move(memory)};
}

void ReferenceOps::write(std::span<const float> from, View to) { copy_from_host(from, to); }

void ReferenceOps::read(View from, std::span<float> to) { copy_to_host(from, to); }

void ReferenceOps::begin_step(const StepInput& step) {
    shape_checks::step(step);
    step_ = step;
    rows_.clear();
    for (const SequenceRows& sequence : step.sequences)
        for (int i = 0; i < sequence.rows; ++i)
            rows_.push_back({.position = sequence.context + i, .pages = sequence.pages});
}

void ReferenceOps::embed(const Weight& table, View out) {
    shape_checks::embed(step_, table, out);
    for (int i = 0; i < out.rows; ++i)
        host(table).unpack_row(step_.tokens[static_cast<std::size_t>(i)], row_of(out, i));
}

void ReferenceOps::rms_norm(View x, View norm, float eps, View out) {
    shape_checks::rms_norm(x, norm, out);
    for (int i = 0; i < x.rows; ++i) {
        SumPartials sums{};
        for (int c = 0; c < x.cols; ++c) {
            float& sum = sums[static_cast<std::size_t>(c % kSumPartials)];
            sum = std::fma(x.row(i)[c], x.row(i)[c], sum);
        }
        const float scale = rms_scale(fold_sum16(sums), x.cols, eps);
        for (int c = 0; c < x.cols; ++c) out.row(i)[c] = (x.row(i)[c] * scale) * norm.data[c];
    }
}

void ReferenceOps::matmul(const Weight& w, View x, View out) {
    shape_checks::matmul(w, x, out);
    reference::multiply(host(w), x, out);
}

void ReferenceOps::add(View x, View out) {
    shape_checks::add(x, out);
    for (int i = 0; i < x.rows; ++i)
        for (int c = 0; c < x.cols; ++c) out.row(i)[c] += x.row(i)[c];
}

void ReferenceOps::rope(const RopeTable& table, int heads, int head_dim, View x) {
    shape_checks::rope(table, heads, head_dim, x);
    HEARTH_CHECK(x.rows == static_cast<int>(rows_.size()));
    const int half = table.dims() / 2;
    const bool interleaved = table.pairing() == RopePairing::interleaved;
    for (int i = 0; i < x.rows; ++i) {
        const int position = rows_[static_cast<std::size_t>(i)].position;
        HEARTH_CHECK(position < table.positions());
        const auto cosines = table.cosines(position);
        const auto sines = table.sines(position);
        for (int h = 0; h < heads; ++h) {
            float* head = x.row(i) + h * head_dim;
            for (int p = 0; p < half; ++p) {
                float& a = head[interleaved ? 2 * p : p];
                float& b = head[interleaved ? 2 * p + 1 : p + half];
                const float cosine = cosines[static_cast<std::size_t>(p)];
                const float sine = sines[static_cast<std::size_t>(p)];
                const float rotated = std::fma(a, cosine, -(b * sine));
                b = std::fma(a, sine, b * cosine);
                a = rotated;
            }
        }
    }
}

void ReferenceOps::store_kv(KvMemory& kv, int layer, View k, View v) {
    shape_checks::store_kv(step_, kv.shape, layer, k, v);
    auto& memory = static_cast<reference::HostKv&>(*kv.memory);
    for (int i = 0; i < k.rows; ++i) {
        const StepRow& row = rows_[static_cast<std::size_t>(i)];
        const int page = row.position / kPagePositions;
        for (int h = 0; h < kv.shape.heads; ++h) {
            const reference::HostKv::Place place = {
                .layer = layer,
                .page = row.pages[static_cast<std::size_t>(page)],
                .head = h,
                .slot = row.position % kPagePositions};
            for (int c = 0; c < kv.shape.head_dim; ++c) {
                memory.set_key(place, c, k.row(i)[h * kv.shape.head_dim + c]);
                memory.set_value(place, c, v.row(i)[h * kv.shape.head_dim + c]);
            }
        }
    }
}

void ReferenceOps::attend(const KvMemory& kv, int layer, const AttentionConfig& config, View q,
                          View out) {
    shape_checks::attend(step_, kv.shape, config, q, out);
    const auto& memory = static_cast<const reference::HostKv&>(*kv.memory);
    for (int i = 0; i < q.rows; ++i) {
        const StepRow& row = rows_[static_cast<std::size_t>(i)];
        for (int h = 0; h < config.heads; ++h) {
            reference::attend_one(memory, config,
                                  {.q = q.row(i) + h * config.head_dim,
                                   .out = out.row(i) + h * config.head_dim,
                                   .layer = layer,
                                   .kv_head = h / (config.heads / config.kv_heads),
                                   .last = row.position,
                                   .pages = row.pages});
        }
    }
}

void ReferenceOps::silu_mul(View gate_up, View out) {
    shape_checks::silu_mul(gate_up, out);
    for (int i = 0; i < out.rows; ++i)
        for (int c = 0; c < out.cols; ++c)
            out.row(i)[c] = silu_f32(gate_up.row(i)[c]) * gate_up.row(i)[out.cols + c];
}

void ReferenceOps::gather_rows(View x, View out) {
    shape_checks::gather_rows(step_, x, out);
    for (int i = 0; i < out.rows; ++i)
        std::ranges::copy(row_of(x, step_.sampled_rows[static_cast<std::size_t>(i)]), out.row(i));
}

View ReferenceOps::scratch(int slot, int rows, int cols) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= scratch_.size()) scratch_.resize(index + 1);
    View& view = scratch_[index].view;
    if (static_cast<std::int64_t>(view.rows) * view.cols < static_cast<std::int64_t>(rows) * cols) {
        auto buffer = allocate(rows, cols);
        HEARTH_CHECK(buffer.has_value());  // an oracle without memory has nothing to say
        scratch_[index] = *std::move(buffer);
    }
    return {.data = view.data, .rows = rows, .cols = cols, .stride = cols};
}

}  // namespace

std::unique_ptr<Ops> make_reference_ops() { return std::make_unique<ReferenceOps>(); }

}  // namespace hearth
