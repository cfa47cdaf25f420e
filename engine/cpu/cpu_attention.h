// Keys and values in pages, and attention over them, on the CPU. Work is split into units (rows of
// one sequence, heads that share a head of keys); when there are few units, into their chunks.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/kernel_table.h"
#include "engine/ops/args.h"

namespace hearth::cpu {

// K [layer][page][head][channel][16 positions], V [layer][page][head][16 positions][channel].
class KvStore : public DeviceMemory {
public:
    // bad_input for types other than f32 and f16; no_memory.
    static Result<std::unique_ptr<KvStore>> make(const KvShape& shape);

    std::size_t bytes_per_page() const;  // all layers
    // One layer's page 0 of one head; pages follow each other every *_page_bytes().
    std::uint8_t* keys(int layer, int head) const;
    std::uint8_t* values(int layer, int head) const;
    std::size_t key_page_bytes() const { return head_bytes(shape_.key_type) * heads(); }
    std::size_t value_page_bytes() const { return head_bytes(shape_.value_type) * heads(); }

    // Rounds k and v [heads * head_dim] into one position.
    struct Slot {
        int layer;
        std::int32_t page;
        int position;  // within the page
    };
    void put(const KernelTable& kernels, const Slot& slot, const float* k, const float* v);

private:
    std::size_t heads() const { return static_cast<std::size_t>(shape_.heads); }
    std::size_t head_bytes(DType type) const;  // of one page
    std::size_t layer_offset(int layer, int head, DType type) const;

    KvShape shape_{};
    AlignedBuffer keys_;
    AlignedBuffer values_;
};

class Attention {
public:
    Attention(const KernelTable& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}

    void begin_step(std::span<const SequenceRows> sequences);
    struct Call {
        const KvStore& kv;
        const KvShape& shape;
        int layer;
        const AttentionConfig& config;
    };
    // no_memory when scratch does not fit; out is untouched then.
    Result<void> attend(const Call& call, View q, View out);

private:
    // Query vectors that share a head of keys: `rows` rows by `heads` heads.
    struct Unit {
        const SequenceRows* sequence;
        int first_row;  // within the sequence
        int rows;
        int kv_head;
        int first_head;
        int heads;
    };
    struct Partial;
    struct SplitScratch {
        int thread;
        float* own;
        float* results;
    };
    void make_units(const AttentionConfig& config);
    static int chunks_of(const Unit& unit);
    static int seen_of_chunk(const Unit& unit, int query, int chunk);
    static int first_seeing(const Unit& unit, int chunk);
    void run_chunk(const Call& call, View q, const Unit& unit, int chunk, Partial& part);
    void merge(const Unit& unit, Partial& total, const Partial& next, int first);
    void whole_units(const Call& call, View q, View out, float* scratch);
    void split_units(const Call& call, View q, View out, SplitScratch scratch);
    void put_out(const Unit& unit, const AttentionConfig& config, const Partial& part, View out);

    const KernelTable& kernels_;
    ThreadPool& pool_;
    std::span<const SequenceRows> sequences_;
    std::vector<Unit> units_;      // longest first
    std::vector<int> first_part_;  // of each unit, when chunks are split
    int heads_ = 0;                // what units_ were made for
    int kv_heads_ = 0;
    Arena scratch_;
    std::atomic<int> next_{0};
    std::atomic<int> next_merge_{0};
};

}  // namespace hearth::cpu
