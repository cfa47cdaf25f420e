#include "engine/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace hearth {
namespace {

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// A pause takes 40 to 140 cycles, so this is 20 to 60 microseconds: longer than the serial gaps
// inside a step, short enough that a thread without a core soon gives way.
constexpr int kSpins = 1500;

// How often a spinning thread asks whether it keeps another one from running.
constexpr int kSpinsBetweenLooks = 64;

// The first line of a small system file; empty when there is none.
std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Cores of the quota, from "max 100000" or "150000 100000"; a large number without a limit.
int quota_cores() {
    constexpr int kNoLimit = 1 << 20;
    const std::string line = first_line("/sys/fs/cgroup/cpu.max");
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.starts_with("max")) return kNoLimit;
    const long quota = std::strtol(line.c_str(), nullptr, 10);
    const long period = std::strtol(line.c_str() + space + 1, nullptr, 10);
    if (quota <= 0 || period <= 0) return kNoLimit;
    return static_cast<int>(std::clamp((quota + period - 1) / period, 1L, 1L << 20));
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)), seen_(static_cast<std::size_t>(threads_)) {
    workers_.reserve(static_cast<std::size_t>(threads_ - 1));
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
    stopping_.store(true, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

ThreadPool::Range ThreadPool::share(int count, int thread) const {
    const auto edge = [&](int i) {
        return static_cast<int>(static_cast<std::int64_t>(count) * i / threads_);
    };
    return {edge(thread), edge(thread + 1)};
}

void ThreadPool::note_core(int thread) {
    std::atomic<int>& core = seen_[static_cast<std::size_t>(thread)].core;
    const int now = sched_getcpu();
    if (core.load(std::memory_order_relaxed) != now) core.store(now, std::memory_order_relaxed);
}

bool ThreadPool::shares_core(int thread) const {
    const int mine = sched_getcpu();
    for (int i = 0; i < threads_; ++i)
        if (i != thread &&
            seen_[static_cast<std::size_t>(i)].core.load(std::memory_order_relaxed) == mine)
            return true;
    return false;
}

// Waits until `word` is no longer `old`: spins, then sleeps. On a busy machine two threads may sit
// on one core; then the spinning one would only hold up the one it waits for, so it sleeps at once.
std::uint32_t ThreadPool::wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t old,
                                          int thread) const {
    for (int i = 0; i < kSpins; ++i) {
        const std::uint32_t now = word.load(std::memory_order_acquire);
        if (now != old) return now;
        if (i % kSpinsBetweenLooks == kSpinsBetweenLooks - 1 && shares_core(thread)) break;
        relax();
    }
    word.wait(old, std::memory_order_acquire);
    return word.load(std::memory_order_acquire);
}

void ThreadPool::run_job(Job job) {
    if (threads_ == 1) return job.call(job.context, 0);
    note_core(0);
    job_ = job;
    busy_.store(static_cast<std::uint32_t>(threads_ - 1), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    job.call(job.context, 0);
    for (std::uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;)
        busy = wait_for_change(busy_, busy, 0);
}

void ThreadPool::work(int thread) {
    pthread_setname_np(pthread_self(), ("hearth-cpu-" + std::to_string(thread)).c_str());
    for (std::uint32_t seen = 0;;) {
        seen = wait_for_change(round_, seen, thread);
        if (stopping_.load(std::memory_order_relaxed)) return;
        note_core(thread);
        job_.call(job_.context, thread);
        // The caller may sleep on any value, not only on the last one.
        busy_.fetch_sub(1, std::memory_order_release);
        busy_.notify_one();
    }
}

void ThreadPool::barrier(int thread) {
    if (threads_ == 1) return;
    const std::uint32_t round = barrier_round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
        arrived_.store(0, std::memory_order_relaxed);
        barrier_round_.store(round + 1, std::memory_order_release);
        barrier_round_.notify_all();
    } else {
        wait_for_change(barrier_round_, round, thread);
    }
}

int usable_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
    // Hyperthreads of one core list the same siblings.
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::string siblings = first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                          "/topology/thread_siblings_list");
        cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
    }
    return std::clamp(static_cast<int>(cores.size()), 1, quota_cores());
}

}  // namespace hearth
