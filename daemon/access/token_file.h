// The token of the TCP door as a file of the owner: made at random, 0600, replaced as a whole and
// durably, never read or written through a symbolic link. A token that others could have read is
// refused. A revoked token leaves the word "revoked" in its place, so that a restart does not make
// another.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace hearth::access {

class TokenFile {
public:
    explicit TokenFile(std::string path) : path_(std::move(path)) {}

    const std::string& path() const { return path_; }

    // The token, empty when it is revoked. Makes the file, and its folder, when there is none.
    Result<std::string> read_or_make() const;
    // A fresh token in place of whatever stands there.
    Result<std::string> rotate() const;
    Result<void> revoke() const;

private:
    std::string path_;
};

}  // namespace hearth::access
