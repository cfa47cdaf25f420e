// A client that may send anything, over either door.
#pragma once

#include <string>
#include <string_view>

namespace hearth::testing {

struct RawReply {
    int status = 0;  // 0: the connection ended, or nothing came for 10 s
    std::string head;
    std::string body;

    std::string header(std::string_view name) const;  // as written; empty when absent
    std::string code() const;                         // of the error object
};

class RawSocket {
public:
    static RawSocket to_port(int port);
    static RawSocket to_path(const std::string& path);
    RawSocket(RawSocket&& other) noexcept;
    RawSocket& operator=(RawSocket&& other) noexcept;
    ~RawSocket();

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    // False when the other end is gone.
    bool write(std::string_view bytes) const;
    // As much as goes at once.
    std::size_t write_some(std::string_view bytes) const;
    // The next whole reply; events are not understood. To a HEAD no body comes.
    RawReply read(bool to_head = false);
    // What comes until the other end closes, or for 10 s.
    std::string read_to_end();
    bool is_closed_by_peer();
    // Ends with RST instead of FIN (TCP only).
    void reset();
    void close();

private:
    explicit RawSocket(int descriptor) : descriptor_(descriptor) {}
    bool fill(int wait_ms);

    int descriptor_ = -1;
    std::string input_;
};

}  // namespace hearth::testing
