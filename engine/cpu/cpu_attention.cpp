#include "engine/cpu/cpu_attention.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/units.h"

namespace hearth::cpu {
namespace {

std::size_t count(int n) { return static_cast<std::size_t>(n); }
std::size_t element_bytes(DType type) { return type == DType::f16 ? 2 : 4; }

// Kernels read whole vectors of channels, past the end of a head whose size is not a multiple
// of 16.
constexpr std::size_t kOverread = 64;

// With fewer units than this for each thread, their chunks are shared out instead: a unit of a long
// context is much work, and one too many would leave the other threads idle.
constexpr int kUnitsPerThread = 4;

int padded(int head_dim) { return ceil_div(head_dim, 16) * 16; }

}  // namespace

Result<std::unique_ptr<KvStore>> KvStore::make(const KvShape& shape) {
    for (const DType type : {shape.key_type, shape.value_type})
        if (type != DType::f32 && type != DType::f16)
            return Error{ErrorCode::bad_input,
                         "keys and values can be F32 or F16, not " + std::string(to_string(type))};
    auto store = std::make_unique<KvStore>();
    store->shape_ = shape;
    const std::size_t pages = count(shape.layers) * count(shape.pages);
    HEARTH_TRY(store->keys_, AlignedBuffer::allocate(store->key_page_bytes() * pages + kOverread));
    HEARTH_TRY(store->values_,
               AlignedBuffer::allocate(store->value_page_bytes() * pages + kOverread));
    return store;
}

std::size_t KvStore::head_bytes(DType type) const {
    return count(shape_.head_dim) * kPagePositions * element_bytes(type);
}

std::size_t KvStore::bytes_per_page() const {
    return (key_page_bytes() + value_page_bytes()) * count(shape_.layers);
}

std::size_t KvStore::layer_offset(int layer, int head, DType type) const {
    return head_bytes(type) * (heads() * count(shape_.pages) * count(layer) + count(head));
}

std::uint8_t* KvStore::keys(int layer, int head) const {
    // const_cast: the store hands out its memory for writing through put() only.
    void* data = const_cast<std::byte*>(keys_.data());
    return static_cast<std::uint8_t*>(data) + layer_offset(layer, head, shape_.key_type);
}

std::uint8_t* KvStore::values(int layer, int head) const {
    // const_cast: as in keys().
    void* data = const_cast<std::byte*>(values_.data());
    return static_cast<std::uint8_t*>(data) + layer_offset(layer, head, shape_.value_type);
}

void KvStore::put(const KernelTable& kernels, const Slot& slot, const float* k, const float* v) {
    constexpr int kStep = 256;  // channels at a time
    const int dim = shape_.head_dim;
    for (int h = 0; h < shape_.heads; ++h, k += dim, v += dim) {
        std::uint8_t* key = keys(slot.layer, h) + key_page_bytes() * count(slot.page);
        std::uint8_t* value = values(slot.layer, h) + value_page_bytes() * count(slot.page);
        const std::size_t key_size = element_bytes(shape_.key_type);
        const std::size_t value_size = element_bytes(shape_.value_type);
        value += value_size * count(slot.position) * count(dim);
        for (int c = 0; c < dim; c += kStep) {
            const int n = std::min(kStep, dim - c);
            std::uint16_t halves[kStep];
            const void* from = k + c;
            if (shape_.key_type == DType::f16) {
                kernels.to_f16(k + c, n, halves);
                from = halves;
            }
            const auto* bytes = static_cast<const std::uint8_t*>(from);
            std::uint8_t* to = key + key_size * count(kPagePositions * c + slot.position);
            for (int i = 0; i < n; ++i, bytes += key_size, to += key_size * kPagePositions)
                std::memcpy(to, bytes, key_size);
            from = v + c;
            if (shape_.value_type == DType::f16) {
                kernels.to_f16(v + c, n, halves);
                from = halves;
            }
            std::memcpy(value + value_size * count(c), from, value_size * count(n));
        }
    }
}

// What a chunk, or all chunks so far, know of the query vectors of a unit; and scratch to get it.
struct Attention::Partial {
    float* q;        // [head_dim][kMaxQueries]
    float* scores;   // [kMaxQueries][256]
    float* maximum;  // [kMaxQueries]
    float* sum;      // [kMaxQueries]
    float* mixed;    // [kMaxQueries][stride]
    int stride;

    static std::size_t result_floats(int head_dim) {
        return count(kMaxQueries) * count(padded(head_dim)) + 2 * 16;
    }
    static std::size_t scratch_floats(int head_dim) {
        return align_up(count(kMaxQueries) * (count(head_dim) + kChunkPositions), 16);
    }
    static Partial at(float* scratch, float* result, int head_dim) {
        return {.q = scratch,
                .scores = scratch + count(kMaxQueries) * count(head_dim),
                .maximum = result,
                .sum = result + 16,
                .mixed = result + 32,
                .stride = padded(head_dim)};
    }
};

void Attention::begin_step(std::span<const SequenceRows> sequences) {
    sequences_ = sequences;
    heads_ = 0;
}

void Attention::make_units(const AttentionConfig& config) {
    if (heads_ == config.heads && kv_heads_ == config.kv_heads) return;
    heads_ = config.heads;
    kv_heads_ = config.kv_heads;
    units_.clear();
    const int group = config.heads / config.kv_heads;
    const int heads = std::min(group, kMaxQueries);
    const int rows = kMaxQueries / heads;
    for (const SequenceRows& sequence : sequences_)
        for (int last = sequence.rows; last > 0; last -= rows) {
            const int first = std::max(0, last - rows);
            for (int kv_head = 0; kv_head < config.kv_heads; ++kv_head)
                for (int head = 0; head < group; head += heads)
                    units_.push_back({.sequence = &sequence,
                                      .first_row = first,
                                      .rows = last - first,
                                      .kv_head = kv_head,
                                      .first_head = kv_head * group + head,
                                      .heads = std::min(heads, group - head)});
        }
    std::sort(units_.begin(), units_.end(),
              [](const Unit& a, const Unit& b) { return chunks_of(a) > chunks_of(b); });
    first_part_.assign(1, 0);
    for (const Unit& unit : units_) first_part_.push_back(first_part_.back() + chunks_of(unit));
}

int Attention::chunks_of(const Unit& unit) {
    return ceil_div(unit.sequence->context + unit.first_row + unit.rows, kChunkPositions);
}

// Positions of a chunk (and beyond it) that a query vector sees; not positive: none.
int Attention::seen_of_chunk(const Unit& unit, int query, int chunk) {
    const int row = unit.first_row + query / unit.heads;
    return unit.sequence->context + row + 1 - chunk * kChunkPositions;
}

// The first query vector that sees anything of a chunk: later rows see more.
int Attention::first_seeing(const Unit& unit, int chunk) {
    int query = 0;
    while (seen_of_chunk(unit, query, chunk) <= 0) query += unit.heads;
    return query;
}

void Attention::run_chunk(const Call& call, View q, const Unit& unit, int chunk, Partial& part) {
    const int dim = call.config.head_dim;
    const int queries = unit.rows * unit.heads;
    const int first = first_seeing(unit, chunk);
    int visible[kMaxQueries];
    for (int r = 0; r < queries; ++r)
        visible[r] = std::min(seen_of_chunk(unit, r, chunk), kChunkPositions);
    for (int r = 0; r < queries; ++r) {
        const int row = unit.sequence->first_row + unit.first_row + r / unit.heads;
        const float* from = q.row(row) + (unit.first_head + r % unit.heads) * dim;
        for (int c = 0; c < dim; ++c) part.q[c * kMaxQueries + r] = from[c];
    }
    kernels_.attend_chunk(
        {.q = part.q + first,
         .queries = queries - first,
         .visible = visible + first,
         .pages = unit.sequence->pages.data() + chunk * (kChunkPositions / kPagePositions),
         .keys = call.kv.keys(call.layer, unit.kv_head),
         .values = call.kv.values(call.layer, unit.kv_head),
         .key_page_bytes = call.kv.key_page_bytes(),
         .value_page_bytes = call.kv.value_page_bytes(),
         .key_type = call.shape.key_type,
         .value_type = call.shape.value_type,
         .head_dim = dim,
         .scale = call.config.scale,
         .scores = part.scores,
         .maximum = part.maximum + first,
         .sum = part.sum + first,
         .mixed = part.mixed + part.stride * first,
         .mixed_stride = part.stride});
}

void Attention::put_out(const Unit& unit, const AttentionConfig& config, const Partial& part,
                        View out) {
    for (int r = 0; r < unit.rows * unit.heads; ++r) {
        const int row = unit.sequence->first_row + unit.first_row + r / unit.heads;
        float* to = out.row(row) + (unit.first_head + r % unit.heads) * config.head_dim;
        kernels_.divide(part.mixed + part.stride * r, part.sum[r], config.head_dim, to);
    }
}

void Attention::merge(const Unit& unit, Partial& total, const Partial& next, int first) {
    for (int r = first; r < unit.rows * unit.heads; ++r)
        kernels_.merge({.maximum = total.maximum + r,
                        .sum = total.sum + r,
                        .mixed = total.mixed + total.stride * r,
                        .next_maximum = next.maximum[r],
                        .next_sum = next.sum[r],
                        .next_mixed = next.mixed + next.stride * r,
                        .channels = total.stride});
}

// Every thread takes whole units, one after another.
void Attention::whole_units(const Call& call, View q, View out, float* scratch) {
    const int dim = call.config.head_dim;
    const auto units = static_cast<int>(units_.size());
    float* results = scratch + Partial::scratch_floats(dim);
    Partial total = Partial::at(scratch, results, dim);
    Partial next = Partial::at(scratch, results + Partial::result_floats(dim), dim);
    for (int i = next_.fetch_add(1); i < units; i = next_.fetch_add(1)) {
        const Unit& unit = units_[count(i)];
        run_chunk(call, q, unit, 0, total);
        for (int chunk = 1; chunk < chunks_of(unit); ++chunk) {
            run_chunk(call, q, unit, chunk, next);
            merge(unit, total, next, first_seeing(unit, chunk));
        }
        put_out(unit, call.config, total, out);
    }
}

// Every thread takes single chunks, then merges whole units. `results` is shared: one per chunk.
void Attention::split_units(const Call& call, View q, View out, SplitScratch scratch) {
    const int dim = call.config.head_dim;
    const std::size_t result = Partial::result_floats(dim);
    const auto part = [&](int i) {
        return Partial::at(scratch.own, scratch.results + result * count(i), dim);
    };
    int unit = 0;
    for (int i = next_.fetch_add(1); i < first_part_.back(); i = next_.fetch_add(1)) {
        while (i >= first_part_[count(unit) + 1]) ++unit;
        Partial mine = part(i);
        run_chunk(call, q, units_[count(unit)], i - first_part_[count(unit)], mine);
    }
    pool_.barrier(scratch.thread);
    const auto units = static_cast<int>(units_.size());
    for (int i = next_merge_.fetch_add(1); i < units; i = next_merge_.fetch_add(1)) {
        const Unit& whole = units_[count(i)];
        Partial total = part(first_part_[count(i)]);
        for (int chunk = 1; chunk < chunks_of(whole); ++chunk)
            merge(whole, total, part(first_part_[count(i)] + chunk), first_seeing(whole, chunk));
        put_out(whole, call.config, total, out);
    }
}

Result<void> Attention::attend(const Call& call, View q, View out) {
    make_units(call.config);
    const int dim = call.config.head_dim;
    const bool split = static_cast<int>(units_.size()) < kUnitsPerThread * pool_.threads();
    const std::size_t result = Partial::result_floats(dim);
    const std::size_t own = Partial::scratch_floats(dim) + 2 * result;  // of a thread
    const std::size_t shared = split ? result * count(first_part_.back()) : 0;
    HEARTH_TRY_VOID(scratch_.reserve((own * count(pool_.threads()) + shared) * sizeof(float)));
    next_.store(0, std::memory_order_relaxed);
    next_merge_.store(0, std::memory_order_relaxed);
    pool_.run([&](int thread) {
        float* scratch = scratch_.floats() + own * count(thread);
        float* results = scratch_.floats() + own * count(pool_.threads());
        if (split)
            split_units(call, q, out, {thread, scratch, results});
        else
            whole_units(call, q, out, scratch);
    });
    return {};
}

}  // namespace hearth::cpu
