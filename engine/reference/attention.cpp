#include "engine/reference/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/math.h"
#include "engine/tensor/half.h"

namespace hearth::reference {
namespace {

std::size_t element_bytes(DType type) {
    return static_cast<std::size_t>(dtype_info(type).block_bytes);
}

void store(AlignedBuffer& buffer, DType type, std::size_t index, float value) {
    if (type == DType::f32) {
        std::memcpy(buffer.data() + index * sizeof(float), &value, sizeof(float));
    } else {
        const std::uint16_t half = f16_from_f32(value);
        std::memcpy(buffer.data() + index * sizeof(half), &half, sizeof(half));
    }
}

float load(const AlignedBuffer& buffer, DType type, std::size_t index) {
    if (type == DType::f32) {
        float value = 0.0F;
        std::memcpy(&value, buffer.data() + index * sizeof(float), sizeof(float));
        return value;
    }
    std::uint16_t half = 0;
    std::memcpy(&half, buffer.data() + index * sizeof(half), sizeof(half));
    return f32_from_f16(half);
}

// What a chunk, or all chunks so far, know: v is not yet divided by l.
struct Partial {
    float m;               // largest score
    float l;               // sum of exp(score - m)
    std::vector<float> v;  // [head_dim]
};

HostKv::Place place_of(const AttentionQuery& query, int position) {
    const int page = position / kPagePositions;
    return {.layer = query.layer,
            .page = query.pages[static_cast<std::size_t>(page)],
            .head = query.kv_head,
            .slot = position % kPagePositions};
}

// Positions first .. first + count - 1, first a multiple of 256.
Partial attend_chunk(const HostKv& kv, const AttentionConfig& config, const AttentionQuery& query,
                     int first, int count) {
    std::array<float, kChunkPositions> scores;
    float largest = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < count; ++i) {
        const HostKv::Place place = place_of(query, first + i);
        float acc = 0.0F;
        for (int c = 0; c < config.head_dim; ++c) acc = std::fma(query.q[c], kv.key(place, c), acc);
        const float score = acc * config.scale;
        scores[static_cast<std::size_t>(i)] = score;
        largest = std::max(largest, score);
    }
    SumPartials sums{};
    Partial chunk{.m = largest,
                  .l = 0.0F,
                  .v = std::vector<float>(static_cast<std::size_t>(config.head_dim))};
    for (int i = 0; i < count; ++i) {
        const float e = exp_f32(scores[static_cast<std::size_t>(i)] - largest);
        sums[static_cast<std::size_t>(i % kSumPartials)] += e;
        const HostKv::Place place = place_of(query, first + i);
        for (int c = 0; c < config.head_dim; ++c) {
            float& v = chunk.v[static_cast<std::size_t>(c)];
            v = std::fma(e, kv.value(place, c), v);
        }
    }
    chunk.l = fold_sum16(sums);
    return chunk;
}

void merge(const Partial& chunk, Partial& total) {
    const float m = std::max(total.m, chunk.m);
    const float a = exp_f32(total.m - m);
    const float b = exp_f32(chunk.m - m);
    total.m = m;
    total.l = std::fma(total.l, a, chunk.l * b);
    for (std::size_t c = 0; c < total.v.size(); ++c)
        total.v[c] = std::fma(total.v[c], a, chunk.v[c] * b);
}

}  // namespace

Result<std::unique_ptr<HostKv>> HostKv::make(const KvShape& shape) {
    for (const DType type : {shape.key_type, shape.value_type}) {
        if (type == DType::f32 || type == DType::f16) continue;
        return Error{ErrorCode::bad_input, "keys and values cannot be stored as " +
                                               std::string(to_string(type)) +
                                               "; choose F16 or F32"};
    }
    auto kv = std::make_unique<HostKv>();
    kv->shape_ = shape;
    const auto of = [](int n) { return static_cast<std::uint64_t>(n); };
    const Checked elements = Checked(of(shape.layers)) * of(shape.pages) * of(shape.heads) *
                             of(shape.head_dim) * of(kPagePositions);
    const auto key_bytes = (elements * element_bytes(shape.key_type)).value();
    const auto value_bytes = (elements * element_bytes(shape.value_type)).value();
    if (!key_bytes || !value_bytes)
        return Error{ErrorCode::no_memory, "keys and values of " + std::to_string(shape.pages) +
                                               " pages are larger than any memory"};
    HEARTH_TRY(kv->keys_, AlignedBuffer::allocate(*key_bytes));
    HEARTH_TRY(kv->values_, AlignedBuffer::allocate(*value_bytes));
    return kv;
}

std::size_t HostKv::bytes_per_page() const {
    const auto elements = static_cast<std::size_t>(shape_.layers) *
                          static_cast<std::size_t>(shape_.heads) *
                          static_cast<std::size_t>(shape_.head_dim) * kPagePositions;
    return elements * (element_bytes(shape_.key_type) + element_bytes(shape_.value_type));
}

std::size_t HostKv::page_offset(const Place& place) const {
    const auto of = [](int n) { return static_cast<std::size_t>(n); };
    const std::size_t page = of(place.layer) * of(shape_.pages) + of(place.page);
    return (page * of(shape_.heads) + of(place.head)) * of(shape_.head_dim) * kPagePositions;
}

std::size_t HostKv::key_index(const Place& place, int channel) const {
    return page_offset(place) + static_cast<std::size_t>(channel * kPagePositions + place.slot);
}

std::size_t HostKv::value_index(const Place& place, int channel) const {
    return page_offset(place) + static_cast<std::size_t>(place.slot * shape_.head_dim + channel);
}

void HostKv::set_key(const Place& place, int channel, float value) {
    store(keys_, shape_.key_type, key_index(place, channel), value);
}

void HostKv::set_value(const Place& place, int channel, float value) {
    store(values_, shape_.value_type, value_index(place, channel), value);
}

float HostKv::key(const Place& place, int channel) const {
    return load(keys_, shape_.key_type, key_index(place, channel));
}

float HostKv::value(const Place& place, int channel) const {
    return load(values_, shape_.value_type, value_index(place, channel));
}

void attend_one(const HostKv& kv, const AttentionConfig& config, const AttentionQuery& query) {
    Partial total{};
    for (int first = 0; first <= query.last; first += kChunkPositions) {
        const int count = std::min(kChunkPositions, query.last + 1 - first);
        Partial chunk = attend_chunk(kv, config, query, first, count);
        if (first == 0) {
            total = std::move(chunk);
        } else {
            merge(chunk, total);
        }
    }
    for (std::size_t c = 0; c < total.v.size(); ++c) query.out[c] = total.v[c] / total.l;
}

}  // namespace hearth::reference
