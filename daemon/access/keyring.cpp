#include "daemon/access/keyring.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "engine/base/check.h"

namespace hearth::access {

Keyring::Hash Keyring::hash_of(std::string_view text) {
    Hash hash{};
    unsigned int size = 0;
    HEARTH_CHECK(
        ::EVP_Digest(text.data(), text.size(), hash.data(), &size, ::EVP_sha256(), nullptr) == 1 &&
        size == hash.size());
    return hash;
}

void Keyring::set(std::string_view token) {
    hash_.reset();
    if (!token.empty()) hash_ = hash_of(token);
}

bool Keyring::opens(std::string_view token) const {
    if (!hash_) return false;
    const Hash given = hash_of(token);
    return ::CRYPTO_memcmp(given.data(), hash_->data(), given.size()) == 0;
}

}  // namespace hearth::access
