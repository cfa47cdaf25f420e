// A named thread that runs tasks one after the other. What a task leaves for its asker goes through
// `Post`, which runs a function on the asker's own thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/inbox.h"
#include "engine/base/result.h"

namespace hearth::store {

using Task = std::function<void()>;
using Post = std::function<void(Task)>;  // from any thread

class TaskThread {
public:
    TaskThread(const std::string& name, std::size_t limit, Post post);
    ~TaskThread();  // runs what was put, then ends
    TaskThread(const TaskThread&) = delete;
    TaskThread& operator=(const TaskThread&) = delete;

    // False when the inbox is full or closed.
    bool put(Task task) { return inbox_.put(std::move(task)); }

    // Runs `work` on the thread and `done` with its result through Post; busy at once (but still
    // through Post) when the inbox is full.
    template <typename T>
    void run(std::function<Result<T>()> work, std::function<void(Result<T>)> done) {
        auto task = [this, work = std::move(work), done] {
            // Two owners in turn, never at once: this task, then the posted function. std::function
            // wants copies, and not every result can be copied.
            auto result = std::make_shared<Result<T>>(work());
            post_([done, result] { done(std::move(*result)); });
        };
        if (put(std::move(task))) return;
        post_([done] { done(Error{ErrorCode::busy, "too much is waiting for the disk"}); });
    }

private:
    Inbox<Task> inbox_;
    Post post_;
    std::thread thread_;  // last: it uses the others
};

}  // namespace hearth::store
