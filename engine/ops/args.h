// Plain arguments of the ops: views, the step, and what the state in pages looks like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/tensor/dtype.h"

namespace hearth {

// Positions in one page of keys and values, and in one chunk of attention (DESIGN: a chunk is
// computed alone and chunks are merged in ascending order, so both are part of the numerics).
constexpr int kPagePositions = 16;
constexpr int kChunkPositions = 256;

// Borrowed f32 activations on a device: [rows, cols], a row every `stride` floats. Only the backend
// that allocated the memory may read through `data`.
struct View {
    float* data = nullptr;
    int rows = 0;
    int cols = 0;
    std::int64_t stride = 0;

    float* row(int i) const { return data + i * stride; }
    View first_rows(int n) const { return {data, n, cols, stride}; }
    View columns(int first, int n) const { return {data + first, rows, n, stride}; }
};

// Memory that a backend owns; what is inside is the backend's business.
class DeviceMemory {
public:
    virtual ~DeviceMemory() = default;
};

// Owns f32 device memory.
struct Buffer {
    std::unique_ptr<DeviceMemory> memory;
    View view;
};

// Rows of a weight as the file has them: row-major blocks of one type, in host memory.
struct RowSegment {
    DType type;
    int rows;
    std::span<const std::byte> blocks;
};

// A matrix of weights [rows, cols] on a device, repacked by the backend: one or more segments of
// rows, each with a type of its own (in a Q4_K_M file q, k and v differ).
struct Weight {
    int rows = 0;
    int cols = 0;
    std::size_t bytes = 0;  // on the device
    std::unique_ptr<DeviceMemory> memory;
};

// Storage for keys and values of `pages` pages, for all layers of one group.
struct KvShape {
    int layers;
    int heads;  // of keys and values
    int head_dim;
    DType key_type;  // f32 or f16
    DType value_type;
    int pages;
};
struct KvMemory {
    KvShape shape{};
    std::size_t bytes_per_page = 0;  // all layers
    std::unique_ptr<DeviceMemory> memory;
};

// Rows of one sequence within a step: consecutive tokens at positions context, context + 1, …
struct SequenceRows {
    int first_row;
    int rows;
    int context;  // positions stored before this step
    std::span<const std::int32_t>
        pages;  // page of positions 16 i .. 16 i + 15; covers context + rows
};

// Everything that changes from step to step. Borrowed until finish().
struct StepInput {
    std::span<const std::int32_t> tokens;        // [rows]
    std::span<const SequenceRows> sequences;     // ascending first_row, covering all rows
    std::span<const std::int32_t> sampled_rows;  // rows whose logits are wanted, ascending
};

struct AttentionConfig {
    int heads;
    int kv_heads;  // divides heads; query head h reads head h / (heads / kv_heads)
    int head_dim;
    float scale;  // of scores, usually fl(1 / sqrt(head_dim))
};

}  // namespace hearth
