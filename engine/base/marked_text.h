// Text of which every byte is either trusted (a chat template wrote it) or foreign (it came from a
// message). Control tokens are recognised in trusted bytes only.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

struct MarkedText {
    std::string text;
    std::string trusted;  // as long as text; '\1' where the byte is trusted, else '\0'

    void append(std::string_view part, bool is_trusted) {
        text.append(part);
        trusted.append(part.size(), is_trusted ? '\1' : '\0');
    }
    static MarkedText all(std::string_view text, bool is_trusted) {
        MarkedText marked;
        marked.append(text, is_trusted);
        return marked;
    }
};

}  // namespace hearth
