// A listening TCP socket on the loopback interface. There is no way to ask for another address:
// Hearth is for programs on this machine.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace hearth::net {

class TcpPort {
public:
    // On 127.0.0.1; port 0: a free one. io_failed says who to ask when the port is taken.
    static Result<TcpPort> listen(int port);
    // A listening socket that the service manager passed on: 127.0.0.1 or ::1, else forbidden.
    // The descriptor is taken in any case.
    static Result<TcpPort> adopt(int descriptor);

    TcpPort(TcpPort&& other) noexcept;
    TcpPort& operator=(TcpPort&&) noexcept = delete;
    ~TcpPort();

    // The listening socket; whoever takes it closes it.
    int take_descriptor();
    const std::string& address() const { return hosts_.front(); }  // "127.0.0.1:7411"
    // What the Host of a request to it may say.
    const std::vector<std::string>& hosts() const { return hosts_; }

private:
    explicit TcpPort(int descriptor) : descriptor_(descriptor) {}
    Result<void> read_address();

    int descriptor_ = -1;
    std::vector<std::string> hosts_;
};

}  // namespace hearth::net
