#include "tests/engine/gguf/allocation_counter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held = 0;
std::atomic<std::size_t> peak = 0;

void* counted(std::size_t bytes) {
    void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
    if (memory == nullptr) throw std::bad_alloc();
    held += malloc_usable_size(memory);
    peak = std::max(peak.load(), held.load());
    return memory;
}

void release(void* memory) {
    held -= malloc_usable_size(memory);
    std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace hearth::gguf {

PeakMemory::PeakMemory() : base_(held) { peak = held.load(); }
std::size_t PeakMemory::extra() const { return peak - base_; }

}  // namespace hearth::gguf
