// Which bearer token opens the TCP door. Only its SHA-256 is kept, and hashes are compared in
// constant time: how long a refusal takes says nothing about the token.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hearth::access {

class Keyring {
public:
    // From here on only this token opens; an empty one means that nothing does.
    void set(std::string_view token);
    bool opens(std::string_view token) const;
    // Whether set(token) would change nothing.
    bool is(std::string_view token) const { return token.empty() ? !hash_ : opens(token); }

private:
    using Hash = std::array<unsigned char, 32>;
    static Hash hash_of(std::string_view text);

    std::optional<Hash> hash_;
};

}  // namespace hearth::access
