// Splitting of strings; see text_tools.h.
#include <algorithm>

#include "engine/chat/machine.h"
#include "engine/chat/text_tools.h"

namespace hearth::chat {
namespace {

// Collects the pieces of a text.
class Pieces {
public:
    Pieces(Machine& machine, const MarkedString& text) : machine_(machine), text_(text) {}

    void add(std::size_t begin, std::size_t end) {
        machine_.budget().step();
        machine_.budget().memory().need((items_.size() + 1) * sizeof(Value));
        items_.push_back(machine_.string(text_.slice(begin, end)));
    }
    Value take(bool reverse) {
        if (reverse) std::reverse(items_.begin(), items_.end());
        return machine_.list(std::move(items_));
    }

private:
    Machine& machine_;
    const MarkedString& text_;
    std::vector<Value> items_;
};

void split_spaces(std::string_view text, std::int64_t most, Pieces& pieces) {
    std::size_t at = 0;
    const auto skip = [&](bool spaces) {
        while (at < text.size()) {
            const Character next = character_at(text, at);
            if (is_space(next.code) != spaces) break;
            at += next.length;
        }
    };
    for (;; --most) {
        skip(true);
        if (at >= text.size()) return;
        if (most == 0) return pieces.add(at, text.size());
        const std::size_t begin = at;
        skip(false);
        pieces.add(begin, at);
    }
}

void split_spaces_from_right(std::string_view text, std::int64_t most, Pieces& pieces) {
    std::size_t end = text.size();
    const auto skip = [&](bool spaces) {
        while (end > 0) {
            const Character last = character_before(text, end);
            if (is_space(last.code) != spaces) break;
            end -= last.length;
        }
    };
    for (;; --most) {
        skip(true);
        if (end == 0) return;
        if (most == 0) return pieces.add(0, end);
        const std::size_t stop = end;
        skip(false);
        pieces.add(end, stop);
    }
}

void split_at(std::string_view text, std::string_view separator, std::int64_t most,
              Pieces& pieces) {
    std::size_t begin = 0;
    for (; most != 0; --most) {
        const std::size_t found = find_text(text, separator, begin);
        if (found == std::string_view::npos) break;
        pieces.add(begin, found);
        begin = found + separator.size();
    }
    pieces.add(begin, text.size());
}

void split_at_from_right(Machine& machine, std::string_view text, std::string_view separator,
                         std::int64_t most, Pieces& pieces) {
    std::size_t end = text.size();
    for (; most != 0; --most) {
        // A long separator costs a pass over the rest of the text.
        if (separator.size() > 8) {
            machine.budget().work(end);
            machine.budget().memory().need(end + separator.size());
        }
        const std::size_t found = find_last_text(text.substr(0, end), separator);
        if (found == std::string_view::npos) break;
        pieces.add(found + separator.size(), end);
        end = found;
    }
    pieces.add(0, end);
}

// Length of the line end at `at`, or 0. The set of str.splitlines.
std::size_t line_end_length(std::string_view text, std::size_t at) {
    const Character next = character_at(text, at);
    switch (next.code) {
        case '\r':
            return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
        case '\n':
        case 0x0b:
        case 0x0c:
        case 0x1c:
        case 0x1d:
        case 0x1e:
        case 0x85:
        case 0x2028:
        case 0x2029:
            return next.length;
        default:
            return 0;
    }
}

}  // namespace

Value split(Machine& machine, const MarkedString& text, const SplitRule& rule) {
    machine.budget().work(text.size());
    Pieces pieces(machine, text);
    if (rule.separator == nullptr) {
        if (rule.from_right) {
            split_spaces_from_right(text.view(), rule.most, pieces);
        } else {
            split_spaces(text.view(), rule.most, pieces);
        }
        return pieces.take(rule.from_right);
    }
    const std::string_view separator = rule.separator->view();
    if (separator.empty()) fail("empty separator");
    if (rule.from_right) {
        split_at_from_right(machine, text.view(), separator, rule.most, pieces);
    } else {
        split_at(text.view(), separator, rule.most, pieces);
    }
    return pieces.take(rule.from_right);
}

std::vector<Span> lines_of(Machine& machine, std::string_view text, bool keep_ends) {
    machine.budget().work(text.size());
    std::vector<Span> lines;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = line_end_length(text, at);
        if (length == 0) {
            at += character_at(text, at).length;
            continue;
        }
        machine.budget().step();
        machine.budget().memory().need((lines.size() + 1) * sizeof(Span));
        lines.push_back({begin, keep_ends ? at + length : at});
        at += length;
        begin = at;
    }
    if (begin < text.size()) lines.push_back({begin, text.size()});
    return lines;
}

}  // namespace hearth::chat
