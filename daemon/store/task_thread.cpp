#include "daemon/store/task_thread.h"

#include <pthread.h>

namespace hearth::store {

TaskThread::TaskThread(const std::string& name, std::size_t limit, Post post)
    : inbox_(limit), post_(std::move(post)), thread_([this, name] {
          ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
          for (;;) {
              const auto tasks = inbox_.take_all(/*wait=*/true);
              if (tasks.empty()) return;  // closed
              for (const Task& task : tasks) task();
          }
      }) {}

TaskThread::~TaskThread() {
    inbox_.close();
    thread_.join();
}

}  // namespace hearth::store
