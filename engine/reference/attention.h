// Keys and values in pages, and attention over them (engine/ops/README.md: attend).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/ops/args.h"

namespace hearth::reference {

// K [layer][page][head][channel][16 positions], V [layer][page][head][16 positions][channel].
class HostKv : public DeviceMemory {
public:
    // bad_input for types other than f32 and f16; no_memory.
    static Result<std::unique_ptr<HostKv>> make(const KvShape& shape);

    // Where one position's key or value of one head lies: element 0 of channel 0.
    struct Place {
        int layer;
        std::int32_t page;
        int head;
        int slot;  // position mod 16
    };
    void set_key(const Place& place, int channel, float value);
    void set_value(const Place& place, int channel, float value);
    float key(const Place& place, int channel) const;
    float value(const Place& place, int channel) const;

    std::size_t bytes_per_page() const;

private:
    std::size_t page_offset(const Place& place) const;
    std::size_t key_index(const Place& place, int channel) const;
    std::size_t value_index(const Place& place, int channel) const;

    KvShape shape_{};
    AlignedBuffer keys_;
    AlignedBuffer values_;
};

// One row and one head: q and out have config.head_dim channels and attend to positions 0 .. last.
struct AttentionQuery {
    const float* q;
    float* out;
    int layer;
    int kv_head;
    int last;                             // own position
    std::span<const std::int32_t> pages;  // of the row's sequence
};
void attend_one(const HostKv& kv, const AttentionConfig& config, const AttentionQuery& query);

}  // namespace hearth::reference
