// A timer without knowing what runs the loop; daemon/app gives it.
#pragma once

#include <chrono>
#include <functional>

namespace hearth::api {

class Timer {
public:
    virtual ~Timer() = default;
    // Calls `action` once after `time`, unless started again or cancelled before.
    virtual void start(std::chrono::milliseconds time, std::function<void()> action) = 0;
    virtual void cancel() = 0;
};

}  // namespace hearth::api
