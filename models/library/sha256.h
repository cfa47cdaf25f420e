// SHA-256 of data that comes in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hearth::library {

class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void update(std::span<const std::byte> bytes);
    std::string finish();  // 64 hex digits; once

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hearth::library
