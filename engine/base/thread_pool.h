// Fixed workers that carry out one parallel region at a time, handed over in well under a
// microsecond: workers spin for some tens of microseconds after a region, then sleep until the next
// one, so that an idle pool costs nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hearth {

// Thread: run() from one thread at a time; barrier() from inside a region only.
class ThreadPool {
public:
    // `threads` counts the caller, so threads - 1 workers start; at least 1.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }

    // Calls body(thread) once for each thread 0 .. threads() - 1, thread 0 being the caller, and
    // returns when all are done. What one region wrote, the next one sees. Never allocates. The
    // body must not throw and must not call run().
    template <typename Body>
    void run(Body&& body) {
        run_job({[](void* context, int thread) { (*static_cast<Body*>(context))(thread); }, &body});
    }

    // Splits 0 .. count - 1 into one range of neighbours per thread: body(first, last).
    template <typename Body>
    void parallel_for(int count, Body&& body) {
        run([&](int thread) {
            const Range range = share(count, thread);
            if (range.first < range.last) body(range.first, range.last);
        });
    }

    struct Range {
        int first;
        int last;
    };
    Range share(int count, int thread) const;

    // Inside a region: returns once every thread has come here. `thread` is the caller's number.
    void barrier(int thread);

private:
    struct Job {
        void (*call)(void* context, int thread) = nullptr;
        void* context = nullptr;
    };
    // The core that a thread was last seen on, in a cache line of its own.
    struct alignas(64) Seen {
        std::atomic<int> core{-1};
    };
    void run_job(Job job);
    void work(int thread);
    void note_core(int thread);
    bool shares_core(int thread) const;
    std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t old,
                                  int thread) const;

    const int threads_;
    Job job_;  // written before round_ goes up
    // A cache line each: one is written by the caller, the others by the workers.
    alignas(64) std::atomic<std::uint32_t> round_{0};
    alignas(64) std::atomic<std::uint32_t> busy_{0};  // workers still in the region
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> barrier_round_{0};
    std::atomic<bool> stopping_{false};
    std::vector<Seen> seen_;
    std::vector<std::thread> workers_;
};

// Cores that this process may use: those of its affinity mask, hyperthreads of one core counted
// once, and no more than its cgroup's CPU quota (rounded up). At least 1.
int usable_cores();

}  // namespace hearth
