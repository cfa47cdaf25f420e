#include "daemon/app/tcp_door.h"

#include <unistd.h>

#include <utility>

#include "engine/base/log.h"

namespace hearth::app {

TcpDoor::TcpDoor(net::Listener& listener, access::Keyring& keyring, access::TokenFile token,
                 TcpSettings settings)
    : listener_(listener), keyring_(keyring), token_(std::move(token)), settings_(settings) {}

TcpDoor::~TcpDoor() {
    if (settings_.inherited >= 0) ::close(settings_.inherited);
}

void TcpDoor::open() {
    if (!settings_.on) {
        reason_ = "it is switched off by the setting 'tcp'";
        return;
    }
    auto token = token_.read_or_make();
    if (token) {
        keyring_.set(*token);
        listen();
    } else {
        reason_ = token.error().message;
    }
    if (!address_.empty()) return log(LogLevel::info, "hearthd listens at " + address_);
    log(LogLevel::warning, "hearthd does not listen for TCP: " + reason_);
}

void TcpDoor::listen() {
    const int inherited = std::exchange(settings_.inherited, -1);
    auto port =
        inherited >= 0 ? net::TcpPort::adopt(inherited) : net::TcpPort::listen(settings_.port);
    reason_ = port ? "" : port.error().message;
    if (!port) return;
    address_ = port->address();
    listener_.open(*std::move(port));
}

void TcpDoor::on_token_changed() {
    listener_.close_tcp_sessions();
    if (settings_.on && address_.empty() && !keyring_.is("")) listen();
}

protocol::TcpStatus TcpDoor::status() const {
    protocol::TcpStatus status;
    status.on = !address_.empty();
    status.reason = reason_;
    if (!status.on) return status;
    status.base_url = "http://" + address_ + "/v1";
    if (keyring_.is("")) status.reason = "the token is revoked; make another: hearth token rotate";
    return status;
}

}  // namespace hearth::app
