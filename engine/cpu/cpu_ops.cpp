#include "engine/cpu/cpu_ops.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/thread_pool.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/cpu_attention.h"
#include "engine/cpu/cpu_products.h"
#include "engine/cpu/packed_weight.h"
#include "engine/ops/host_copy.h"
#include "engine/ops/shape_checks.h"

namespace hearth::cpu {
namespace {

struct HostFloats : DeviceMemory {
    AlignedBuffer bytes;
};

struct StepRow {
    int position;
    const SequenceRows* sequence;
};

// Below so many values, waking other threads costs more than it saves: about a microsecond of work.
constexpr std::int64_t kSerialValues = 8192;

const PackedWeight& packed(const Weight& w) { return static_cast<const PackedWeight&>(*w.memory); }

class CpuOps final : public Ops {
public:
    CpuOps(const KernelTable& kernels, int threads)
        : kernels_(kernels),
          pool_(threads),
          products_(kernels, pool_),
          attention_(kernels, pool_) {}

    std::string description() const override {
        return std::string("cpu, ") + kernels_.name + ", " + std::to_string(pool_.threads()) +
               (pool_.threads() == 1 ? " thread" : " threads");
    }

    Result<Buffer> allocate(int rows, int cols) override;
    Result<Weight> upload(std::span<const RowSegment> segments, int cols) override;
    Result<KvMemory> allocate_kv(const KvShape& shape) override;
    void write(std::span<const float> from, View to) override;
    void read(View from, std::span<float> to) override;

    void begin_step(const StepInput& step) override;
    Result<void> finish() override;

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

    void matmul_add(const Weight& w, View x, View out) override;
    void norm_matmul(View x, View norm, float eps, const Weight& w, View out) override;
    void rope_store(const RopeTable& table, const AttentionConfig& config, KvMemory& kv, int layer,
                    View qkv) override;
    void gated(View x, View norm, float eps, const Weight& gate_up, View out) override;

protected:
    View scratch(int slot, int rows, int cols) override;

private:
    // Calls body(row) for every row, on several threads when there is enough to do.
    template <typename Body>
    void for_rows(int rows, int values_per_row, const Body& body) {
        const auto range = [&](int first, int last) {
            for (int i = first; i < last; ++i) body(i);
        };
        if (static_cast<std::int64_t>(rows) * values_per_row < kSerialValues)
            range(0, rows);
        else
            pool_.parallel_for(rows, range);
    }
    void note(Result<void> result) {
        if (!result && !failure_) failure_ = std::move(result).error();
    }
    void rope_one(const RopeTable& table, int row, int heads, int head_dim, float* x);
    void store_one(KvStore& store, int layer, int row, const float* k, const float* v);

    const KernelTable& kernels_;
    ThreadPool pool_;
    Products products_;
    Attention attention_;
    StepInput step_;
    std::vector<StepRow> rows_;
    std::vector<Arena> scratch_;
    std::optional<Error> failure_;
};

Result<Buffer> CpuOps::allocate(int rows, int cols) {
    HEARTH_CHECK(rows >= 0 && cols >= 0);
    auto memory = std::make_unique<HostFloats>();
    const std::size_t floats = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    HEARTH_TRY(memory->bytes, AlignedBuffer::allocate(floats * sizeof(float)));
    void* data = memory->bytes.data();
    return Buffer{.memory = std::move(memory),
                  .view = {static_cast<float*>(data), rows, cols, cols}};
}

Result<Weight> CpuOps::upload(std::span<const RowSegment> segments, int cols) {
    shape_checks::segments(segments, cols);
    HEARTH_TRY(auto memory, PackedWeight::pack(segments, cols, pool_));
    Weight weight{.rows = 0, .cols = cols, .bytes = memory->bytes(), .memory = nullptr};
    for (const RowSegment& segment : segments) weight.rows += segment.rows;
    weight.memory = std::move(memory);
    return weight;
}

Result<KvMemory> CpuOps::allocate_kv(const KvShape& shape) {
    HEARTH_TRY(auto memory, KvStore::make(shape));
    const std::size_t bytes = memory->bytes_per_page();
    return KvMemory{.shape = shape, .bytes_per_page = bytes, .memory = std::move(memory)};
}

void CpuOps::write(std::span<const float> from, View to) { copy_from_host(from, to); }

void CpuOps::read(View from, std::span<float> to) { copy_to_host(from, to); }

void CpuOps::begin_step(const StepInput& step) {
    shape_checks::step(step);
    step_ = step;
    failure_.reset();
    rows_.clear();
    for (const SequenceRows& sequence : step_.sequences)
        for (int i = 0; i < sequence.rows; ++i) rows_.push_back({sequence.context + i, &sequence});
    attention_.begin_step(step_.sequences);
}

Result<void> CpuOps::finish() {
    if (!failure_) return {};
    return *std::exchange(failure_, std::nullopt);
}

void CpuOps::embed(const Weight& table, View out) {
    shape_checks::embed(step_, table, out);
    for_rows(out.rows, out.cols, [&](int i) {
        packed(table).unpack_row(step_.tokens[static_cast<std::size_t>(i)], out.row(i));
    });
}

void CpuOps::rms_norm(View x, View norm, float eps, View out) {
    shape_checks::rms_norm(x, norm, out);
    for_rows(x.rows, x.cols,
             [&](int i) { kernels_.rms_norm(x.row(i), norm.data, eps, x.cols, out.row(i)); });
}

void CpuOps::matmul(const Weight& w, View x, View out) {
    shape_checks::matmul(w, x, out);
    note(products_.multiply(packed(w), {.x = x}, out, Products::Into::replace));
}

void CpuOps::matmul_add(const Weight& w, View x, View out) {
    shape_checks::matmul(w, x, out);
    note(products_.multiply(packed(w), {.x = x}, out, Products::Into::add));
}

void CpuOps::norm_matmul(View x, View norm, float eps, const Weight& w, View out) {
    shape_checks::rms_norm(x, norm, x);
    shape_checks::matmul(w, x, out);
    note(products_.multiply(packed(w), {.x = x, .norm = norm.data, .eps = eps}, out,
                            Products::Into::replace));
}

void CpuOps::gated(View x, View norm, float eps, const Weight& gate_up, View out) {
    if (!Products::can_gate(packed(gate_up), out.cols))
        return Ops::gated(x, norm, eps, gate_up, out);
    shape_checks::rms_norm(x, norm, x);
    HEARTH_CHECK(gate_up.rows == 2 * out.cols && x.cols == gate_up.cols && out.rows == x.rows);
    note(products_.gated(packed(gate_up), {.x = x, .norm = norm.data, .eps = eps}, out));
}

void CpuOps::add(View x, View out) {
    shape_checks::add(x, out);
    for_rows(x.rows, x.cols, [&](int i) { kernels_.add(x.row(i), x.cols, out.row(i)); });
}

void CpuOps::rope_one(const RopeTable& table, int row, int heads, int head_dim, float* x) {
    const int position = rows_[static_cast<std::size_t>(row)].position;
    HEARTH_CHECK(position < table.positions());
    kernels_.rope({.cosines = table.cosines(position).data(),
                   .sines = table.sines(position).data(),
                   .dims = table.dims(),
                   .interleaved = table.pairing() == RopePairing::interleaved,
                   .heads = heads,
                   .head_dim = head_dim,
                   .x = x});
}

void CpuOps::rope(const RopeTable& table, int heads, int head_dim, View x) {
    shape_checks::rope(table, heads, head_dim, x);
    HEARTH_CHECK(x.rows == static_cast<int>(rows_.size()));
    for_rows(x.rows, x.cols, [&](int i) { rope_one(table, i, heads, head_dim, x.row(i)); });
}

void CpuOps::store_one(KvStore& store, int layer, int row, const float* k, const float* v) {
    const StepRow& at = rows_[static_cast<std::size_t>(row)];
    const int page = at.position / kPagePositions;
    store.put(kernels_,
              {.layer = layer,
               .page = at.sequence->pages[static_cast<std::size_t>(page)],
               .position = at.position % kPagePositions},
              k, v);
}

void CpuOps::store_kv(KvMemory& kv, int layer, View k, View v) {
    shape_checks::store_kv(step_, kv.shape, layer, k, v);
    auto& store = static_cast<KvStore&>(*kv.memory);
    for_rows(k.rows, 2 * k.cols, [&](int i) { store_one(store, layer, i, k.row(i), v.row(i)); });
}

void CpuOps::rope_store(const RopeTable& table, const AttentionConfig& config, KvMemory& kv,
                        int layer, View qkv) {
    const int rotated = config.heads + config.kv_heads;
    const int k_at = config.heads * config.head_dim;
    const int kv_cols = config.kv_heads * config.head_dim;
    shape_checks::rope(table, rotated, config.head_dim, qkv.columns(0, k_at + kv_cols));
    shape_checks::store_kv(step_, kv.shape, layer, qkv.columns(k_at, kv_cols),
                           qkv.columns(k_at + kv_cols, kv_cols));
    auto& store = static_cast<KvStore&>(*kv.memory);
    for_rows(qkv.rows, qkv.cols, [&](int i) {
        float* row = qkv.row(i);
        rope_one(table, i, rotated, config.head_dim, row);
        store_one(store, layer, i, row + k_at, row + k_at + kv_cols);
    });
}

void CpuOps::attend(const KvMemory& kv, int layer, const AttentionConfig& config, View q,
                    View out) {
    shape_checks::attend(step_, kv.shape, config, q, out);
    const auto& store = static_cast<const KvStore&>(*kv.memory);
    note(attention_.attend({store, kv.shape, layer, config}, q, out));
}

void CpuOps::silu_mul(View gate_up, View out) {
    shape_checks::silu_mul(gate_up, out);
    for_rows(out.rows, 2 * out.cols, [&](int i) {
        const float* gate = gate_up.row(i);
        kernels_.silu_mul(gate, gate + out.cols, out.cols, out.row(i));
    });
}

void CpuOps::gather_rows(View x, View out) {
    shape_checks::gather_rows(step_, x, out);
    for (int i = 0; i < out.rows; ++i)
        std::copy_n(x.row(step_.sampled_rows[static_cast<std::size_t>(i)]), x.cols, out.row(i));
}

View CpuOps::scratch(int slot, int rows, int cols) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= scratch_.size()) scratch_.resize(index + 1);
    const std::size_t floats = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    const auto reserved = scratch_[index].reserve(floats * sizeof(float));
    HEARTH_CHECK(reserved.has_value());  // address space only; memory follows on first touch
    return {scratch_[index].floats(), rows, cols, cols};
}

}  // namespace

std::unique_ptr<Ops> make_cpu_ops(const KernelTable& kernels, int threads) {
    return std::make_unique<CpuOps>(kernels, threads);
}

}  // namespace hearth::cpu
