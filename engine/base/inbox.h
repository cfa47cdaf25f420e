// A bounded, closable queue: the only way into another thread. A full inbox is an answer (`busy`),
// not a wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace hearth {

template <typename T>
class Inbox {
public:
    explicit Inbox(std::size_t limit) : limit_(limit) {}

    // False when the inbox is full or closed; then the item is untouched.
    bool put(T&& item) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_ || items_.size() >= limit_) return false;
            items_.push_back(std::move(item));
        }
        arrived_.notify_one();
        return true;
    }

    // Takes everything. With `wait`, blocks until there is something or the inbox is closed.
    std::vector<T> take_all(bool wait) {
        std::unique_lock lock(mutex_);
        if (wait) arrived_.wait(lock, [this] { return closed_ || !items_.empty(); });
        return std::exchange(items_, {});
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        arrived_.notify_all();
    }

    bool closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }

private:
    const std::size_t limit_;
    mutable std::mutex mutex_;  // guards the two fields below
    std::vector<T> items_;
    bool closed_ = false;
    std::condition_variable arrived_;
};

}  // namespace hearth
