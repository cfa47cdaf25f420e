// A worker that floods its error stream must not fill the disk through our log.
#include "daemon/supervise/line_splitter.h"

#include <cstddef>

#include "engine/base/utf8.h"

namespace hearth::supervise {
namespace {

constexpr std::size_t kMaxLineBytes = 1000;
constexpr int kMaxLines = 2000;

}  // namespace

void LineSplitter::feed(std::string_view bytes) {
    for (const char c : bytes) {
        if (c == '\n') {
            give();
        } else if (line_.size() < kMaxLineBytes) {
            const auto byte = static_cast<unsigned char>(c);
            line_.push_back(byte < 0x20 || byte == 0x7F ? ' ' : c);
        }
    }
}

void LineSplitter::finish() {
    if (!line_.empty()) give();
}

void LineSplitter::give() {
    ++lines_;
    if (lines_ <= kMaxLines && on_line_) on_line_(repair_utf8(line_));
    if (lines_ == kMaxLines && on_line_) on_line_("(further lines of this worker are dropped)");
    line_.clear();
}

}  // namespace hearth::supervise
