// What one render may use: steps, wall time, memory, nesting and stack. Every loop of the evaluator
// pays here, so that no template runs longer or grows larger than its Limits say.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/chat/failure.h"
#include "engine/chat/template.h"

namespace hearth::chat {

// Bytes in use by values that the template built. Nodes give back what they took when they go.
class MemoryAccount {
public:
    explicit MemoryAccount(std::size_t limit) : limit_(limit) {}
    MemoryAccount(const MemoryAccount&) = delete;
    MemoryAccount& operator=(const MemoryAccount&) = delete;

    void charge(std::size_t bytes) {
        need(bytes);
        used_ += bytes;
    }
    void release(std::size_t bytes) { used_ -= bytes; }
    // Throws where `bytes` more would not fit.
    void need(std::size_t bytes) const;
    std::size_t used() const { return used_; }

private:
    const std::size_t limit_;
    std::size_t used_ = 0;
};

// Measures the stack from the frame that made it. Frame sizes differ between builds, so the limit
// is in bytes.
class StackGuard {
public:
    explicit StackGuard(std::size_t limit);
    // Throws template_too_deep.
    void check() const;

private:
    std::uintptr_t start_;
    std::size_t limit_;
};

class Budget {
public:
    explicit Budget(const Limits& limits);

    void step() {
        if (--until_check_ <= 0) check_clock();
    }
    // One step per 64 bytes or 8 items of bulk work.
    void work(std::size_t bytes) { spend(static_cast<std::int64_t>(bytes / 64) + 1); }
    void items(std::size_t count) { spend(static_cast<std::int64_t>(count / 8) + 1); }
    void check_stack() const { stack_.check(); }
    void check_depth(int depth) const;

    const Limits& limits() const { return limits_; }
    MemoryAccount& memory() { return memory_; }

private:
    void spend(std::int64_t steps) {
        until_check_ -= steps;
        if (until_check_ <= 0) check_clock();
    }
    void check_clock();

    const Limits limits_;
    MemoryAccount memory_;
    StackGuard stack_;
    std::int64_t steps_left_;       // beyond the current slice
    std::int64_t until_check_ = 0;  // steps left in the slice between two looks at the clock
    std::chrono::steady_clock::time_point deadline_;
};

[[noreturn]] void fail_too_deep(std::string_view what, int limit);

}  // namespace hearth::chat
