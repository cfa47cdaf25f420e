#include "models/library/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <string_view>

#include "engine/base/check.h"

namespace hearth::library {

struct Sha256::State {
    State() : context(EVP_MD_CTX_new()) {}
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    EVP_MD_CTX* context;
};

// These calls fail only for want of memory, or when the library has no SHA-256 at all.
Sha256::Sha256() : state_(std::make_unique<State>()) {
    HEARTH_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
    HEARTH_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    HEARTH_CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        text += kHex[digest[i] >> 4U];
        text += kHex[digest[i] & 15U];
    }
    return text;
}

}  // namespace hearth::library
