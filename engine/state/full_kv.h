// The group that keeps keys and values of every position: device memory for its pages, and who
// holds which. It can truncate to any position and fork at any position.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/result.h"
#include "engine/ops/ops.h"
#include "engine/state/pages.h"

namespace hearth::state {

// Bytes of one position in all layers, for planning before anything is allocated.
std::uint64_t kv_bytes_per_position(const KvShape& shape);

class FullKv {
public:
    // no_memory when shape.pages pages do not fit.
    static Result<FullKv> make(Ops& ops, const KvShape& shape);

    KvMemory& memory() { return memory_; }
    Pages& pages() { return pages_; }
    const Pages& pages() const { return pages_; }
    std::size_t bytes_per_page() const { return memory_.bytes_per_page; }

private:
    FullKv(KvMemory memory, int pages) : memory_(std::move(memory)), pages_(pages) {}

    KvMemory memory_;
    Pages pages_;
};

}  // namespace hearth::state
