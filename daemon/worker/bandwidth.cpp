// Each thread sums its own part in eight chains, which the compiler turns into vector loads: enough
// of them in flight to saturate the memory of the machines we measured.
#include "daemon/worker/bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/thread_pool.h"
#include "engine/base/units.h"

namespace hearth::worker {
namespace {

constexpr int kPasses = 5;

std::uint64_t sum(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sums[16] = {};
    for (std::size_t i = 0; i + 16 <= count; i += 16) {
        for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] ^= words[i + lane];
    }
    std::uint64_t all = 0;
    for (const std::uint64_t part : sums) all ^= part;
    return all;
}

}  // namespace

Result<double> read_bandwidth(int threads) {
    Result<AlignedBuffer> buffer = AlignedBuffer::allocate(kGiB);
    if (!buffer) buffer = AlignedBuffer::allocate(128 * kMiB);
    if (!buffer) return std::move(buffer).error();
    ThreadPool pool(threads);
    const std::size_t pages = buffer->size() / (64 * kKiB);
    // Written once by the thread that reads it, so that the pages lie near it.
    pool.parallel_for(static_cast<int>(pages), [&](int first, int last) {
        const std::size_t from = static_cast<std::size_t>(first) * 64 * kKiB;
        std::memset(buffer->data() + from, 1, static_cast<std::size_t>(last) * 64 * kKiB - from);
    });
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads));
    double best = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        pool.run([&](int thread) {
            const auto [first, last] = pool.share(static_cast<int>(pages), thread);
            const std::byte* from = buffer->data() + static_cast<std::size_t>(first) * 64 * kKiB;
            // reinterpret_cast: the buffer is aligned to 64 bytes and holds plain words.
            const auto* words = reinterpret_cast<const std::uint64_t*>(from);
            sums[static_cast<std::size_t>(thread)] +=
                sum(words, static_cast<std::size_t>(last - first) * 64 * kKiB / 8);
        });
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        best = std::max(best, static_cast<double>(pages * 64 * kKiB) / time.count());
    }
    // The sums are used, so that no pass can be left out.
    volatile std::uint64_t keep = 0;
    for (const std::uint64_t part : sums) keep = keep ^ part;
    return best;
}

}  // namespace hearth::worker
