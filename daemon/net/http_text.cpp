#include "daemon/net/http_text.h"

#include <array>
#include <charconv>
#include <utility>

namespace hearth::net {
namespace {

std::string_view reason(int status) {
    constexpr std::array<std::pair<int, std::string_view>, 19> kReasons = {{
        {200, "OK"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {499, "Client Closed Request"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {507, "Insufficient Storage"},
    }};
    for (const auto& [value, text] : kReasons)
        if (value == status) return text;
    return "Unknown";
}

std::string head(int status, std::string_view content_type, const Framing& framing) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
    text += reason(status);
    text += "\r\n";
    if (status != 204) {
        text += "Content-Type: ";
        text += content_type;
        text += "\r\n";
    }
    text += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
    text += framing.keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
    if (!framing.origin.empty())
        text += "Access-Control-Allow-Origin: " + framing.origin +
                "\r\nAccess-Control-Expose-Headers: *\r\nVary: Origin\r\n";
    for (const auto& [name, value] : framing.headers) text += name + ": " + value + "\r\n";
    return text;
}

std::string chunk(std::string_view bytes) {
    std::array<char, 16> size;
    const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
    std::string text(size.data(), end);
    text += "\r\n";
    text += bytes;
    text += "\r\n";
    return text;
}

}  // namespace

std::string whole_reply(const api::Reply& reply, const Framing& framing) {
    std::string text = head(reply.status, reply.content_type, framing);
    for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
    if (reply.status == 429 || reply.status == 503) text += "Retry-After: 1\r\n";
    if (reply.status != 204)
        text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
    text += "\r\n";
    return framing.head_only ? text : text + reply.body;
}

std::string event_stream_head(const Framing& framing) {
    return head(200, "text/event-stream", framing) +
           (framing.chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

std::string event(const api::Event& event, bool chunked) {
    std::string text;
    if (!event.name.empty()) text.append("event: ").append(event.name) += '\n';
    if (event.id != 0) text += "id: " + std::to_string(event.id) + "\n";
    text += "data: ";
    text += event.data;
    text += "\n\n";
    return chunked ? chunk(text) : text;
}

std::string comment(std::string_view text, bool chunked) {
    std::string line = ": ";
    line += text;
    line += "\n\n";
    return chunked ? chunk(line) : line;
}

std::string event_stream_end(bool chunked) { return chunked ? "0\r\n\r\n" : ""; }

std::string continue_line() { return "HTTP/1.1 100 Continue\r\n\r\n"; }

}  // namespace hearth::net
