// Allocates the memory of a FullKv group.
#include "engine/state/full_kv.h"

#include <utility>

namespace hearth::state {

std::uint64_t kv_bytes_per_position(const KvShape& shape) {
    const auto of = [](DType type) {
        return static_cast<std::uint64_t>(dtype_info(type).block_bytes);
    };
    return static_cast<std::uint64_t>(shape.layers) * static_cast<std::uint64_t>(shape.heads) *
           static_cast<std::uint64_t>(shape.head_dim) * (of(shape.key_type) + of(shape.value_type));
}

Result<FullKv> FullKv::make(Ops& ops, const KvShape& shape) {
    HEARTH_TRY(KvMemory memory, ops.allocate_kv(shape));
    return FullKv(std::move(memory), shape.pages);
}

}  // namespace hearth::state
