// Opens the TCP door when it can be opened, and knows why not when it cannot: the Unix socket works
// in any case.
#pragma once

#include <string>

#include "daemon/access/keyring.h"
#include "daemon/access/token_file.h"
#include "daemon/net/listener.h"
#include "ipc/protocol/status.h"

namespace hearth::app {

struct TcpSettings {
    bool on = true;
    int port = 0;
    int inherited = -1;  // a listening socket that was passed on; we close it
};

class TcpDoor {
public:
    TcpDoor(net::Listener& listener, access::Keyring& keyring, access::TokenFile token,
            TcpSettings settings);
    ~TcpDoor();
    TcpDoor(const TcpDoor&) = delete;
    TcpDoor& operator=(const TcpDoor&) = delete;

    // At start: reads the token, or makes it.
    void open();
    // The token was replaced or revoked: whoever came in with the old one goes, and a door that
    // stayed shut for the sake of the token opens.
    void on_token_changed();
    protocol::TcpStatus status() const;

private:
    void listen();

    net::Listener& listener_;
    access::Keyring& keyring_;
    const access::TokenFile token_;
    TcpSettings settings_;
    std::string address_;  // empty: shut
    std::string reason_;   // why it is shut
};

}  // namespace hearth::app
