// The real daemon with its TCP door on a free port, and a client that holds the token.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/security/raw_socket.h"
#include "tests/system/running_daemon.h"

namespace hearth::testing {

class TcpDaemon {
public:
    explicit TcpDaemon(const std::vector<std::string>& arguments = {},
                       const std::string& worker = FAKE_WORKER)
        : daemon_({.worker = worker, .arguments = arguments}) {
        const auto status = daemon_.client().status();
        if (!status || !status->tcp.on) return;
        const std::string& url = status->tcp.base_url;  // "http://127.0.0.1:PORT/v1"
        port_ = std::atoi(url.substr(url.rfind(':') + 1).c_str());
        token_ = text_of(root() / "CONFIG/hearth/token");
        while (!token_.empty() && token_.back() == '\n') token_.pop_back();
    }

    RunningDaemon& running() { return daemon_; }
    const client::Client& client() const { return daemon_.client(); }
    const std::filesystem::path& root() const { return daemon_.root(); }
    pid_t pid() const { return daemon_.pid(); }
    std::string import(const std::string& path) const { return daemon_.import(path); }
    int run_another(const std::vector<std::string>& arguments = {}) const {
        return daemon_.run_another(arguments);
    }

    int port() const { return port_; }
    const std::string& token() const { return token_; }
    std::string authorization() const { return "Authorization: Bearer " + token_; }
    // A head without the empty line that ends it.
    std::string head(const std::string& method, const std::string& target,
                     bool with_token = true) const {
        return method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
               "\r\n" + (with_token ? authorization() + "\r\n" : "");
    }
    RawSocket connect() const { return RawSocket::to_port(port_); }
    // One request on a connection of its own.
    RawReply ask(const std::string& bytes) const {
        RawSocket socket = connect();
        if (!socket.is_open() || !socket.write(bytes)) return {};
        return socket.read();
    }

private:
    RunningDaemon daemon_;
    int port_ = 0;
    std::string token_;
};

class TcpDaemonTest : public ::testing::Test {
protected:
    int port() const { return daemon_.port(); }
    std::string authorization() const { return daemon_.authorization(); }
    std::string head(const std::string& method, const std::string& target,
                     bool with_token = true) const {
        return daemon_.head(method, target, with_token);
    }
    RawSocket connect() const { return daemon_.connect(); }
    RawReply ask(const std::string& bytes) const { return daemon_.ask(bytes); }

    TcpDaemon daemon_;
};

}  // namespace hearth::testing
