// The Unix socket as a file: a private folder, a lock that tells whether another hearthd lives, and
// the replacement of a stale socket. A live socket and a file that is no socket are never touched.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace hearth::net {

class SocketFile {
public:
    // A listening socket at `path` (0600), in a folder of ours that nobody else may enter (0700;
    // made when it is not there). busy, naming the process: another hearthd holds the lock.
    static Result<SocketFile> listen(const std::string& path);

    // A listening socket that the service manager made and passed on: the lock is taken as above,
    // but the socket's file is the manager's and stays.
    static Result<SocketFile> adopt(const std::string& path, int descriptor);

    SocketFile(SocketFile&& other) noexcept;
    SocketFile& operator=(SocketFile&&) noexcept = delete;
    ~SocketFile();  // removes a socket that it made; the lock file stays, unlocked

    // The listening socket; whoever takes it closes it.
    int take_descriptor();
    const std::string& path() const { return path_; }

private:
    SocketFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
    static Result<SocketFile> lock(const std::string& path);
    Result<void> clear_path() const;
    Result<void> bind_and_listen();

    std::string path_;
    int lock_ = -1;
    int listener_ = -1;
    bool bound_ = false;
};

}  // namespace hearth::net
