// An open file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace hearth::supervise {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            number_ = other.release();
        }
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    int release() { return std::exchange(number_, -1); }

private:
    void close() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

    int number_ = -1;
};

}  // namespace hearth::supervise
