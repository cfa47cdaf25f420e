// T090: bytes from the socket. However they are cut into reads, the same requests must come out;
// and whatever the guard lets in over TCP had exactly one good Host.
//
// The first byte decides how the rest is cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/access/guard.h"
#include "daemon/net/request_parser.h"

using namespace hearth;

namespace {

constexpr std::size_t kBodyLimit = 4096;

void check_guard(const access::Claims& claims) {
    const access::Door door = {
        .over_tcp = true, .hosts = {"localhost:7411"}, .origins = {"http://a"}};
    const access::Keyring nobody;
    const auto verdict = access::judge(claims, door, access::Permission::open, nobody);
    if (verdict.status != 0 && verdict.status != 204) return;
    if (claims.hosts != door.hosts) std::abort();
    if (!claims.origins.empty() && claims.origins != door.origins) std::abort();
    if (access::judge(claims, door, access::Permission::token, nobody).status == 0) std::abort();
}

// What a connection makes of its reads, as text.
class Connection {
public:
    void read(std::string_view bytes) {
        input_ += bytes;
        while (!failed_ && step()) {
        }
    }
    // Whether a head is refused may not depend on the cut either. A broken line between chunks may
    // be noticed sooner or later: until then nothing is taken.
    std::string transcript() const {
        return transcript_ + (in_body_ ? "in a body" : failed_ ? "failed" : "open");
    }

private:
    // Whether there may be more to take.
    bool step() {
        switch (parser_->feed(input_)) {
            case net::ParseState::need_more:
                return false;
            case net::ParseState::failed:
                failed_ = true;
                return false;
            case net::ParseState::head_done:
                take_head();
                in_body_ = true;
                if (parser_->accept_body(kBodyLimit) != net::ParseState::complete) return true;
                break;
            case net::ParseState::complete:
                break;
        }
        transcript_ += "body " + parser_->take_body() + "\n";
        in_body_ = false;
        parser_ = std::make_unique<net::RequestParser>();
        return !input_.empty();
    }

    void take_head() {
        const net::ParsedHead& head = parser_->head();
        check_guard(head.claims);
        for (const std::string& part :
             {head.head.method, head.head.target, head.head.content_type,
              head.head.content_encoding, head.claims.authority.value_or("none"),
              std::to_string(head.version), std::to_string(static_cast<int>(head.keep_alive)),
              std::to_string(static_cast<int>(head.expects_continue))})
            transcript_ += part + "\n";
        for (const auto* list : {&head.claims.hosts, &head.claims.origins,
                                 &head.claims.authorizations, &head.claims.fetch_sites}) {
            for (const std::string& value : *list) transcript_ += value + ",";
            transcript_ += "\n";
        }
    }

    std::unique_ptr<net::RequestParser> parser_ = std::make_unique<net::RequestParser>();
    std::string input_;
    std::string transcript_;
    bool failed_ = false;
    bool in_body_ = false;
};

}  // namespace

// libFuzzer hands raw bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    // reinterpret_cast: bytes as characters.
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    Connection whole;
    whole.read(bytes);
    Connection cut;
    std::uint32_t state = data[0];
    for (std::size_t at = 0; at < bytes.size();) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        const std::size_t length = 1 + (state >> 24U) % (data[0] % 2 == 0 ? 3U : 200U);
        cut.read(bytes.substr(at, length));
        at += length;
    }
    if (whole.transcript() != cut.transcript()) std::abort();
    return 0;
}
