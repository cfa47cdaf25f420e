// Case, stripping, replacing, joining, padding; splitting is in text_split.cpp. See text_tools.h.
#include "engine/chat/text_tools.h"

#include <utf8proc.h>

#include <algorithm>
#include <string>

#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

constexpr std::int32_t kSharpS = 0xdf;

void append_upper(std::string& out, std::int32_t code, bool is_title) {
    if (code == kSharpS) {  // the one frequent letter whose upper case is two letters
        out += is_title ? "Ss" : "SS";
        return;
    }
    append_character(out, is_title ? utf8proc_totitle(code) : utf8proc_toupper(code));
}

// Changes letters one by one; knows whether the one before was cased.
class CaseChanger {
public:
    explicit CaseChanger(LetterCase letter_case) : case_(letter_case) {}

    void add(std::string& out, std::int32_t code) {
        switch (case_) {
            case LetterCase::upper:
                append_upper(out, code, false);
                break;
            case LetterCase::lower:
                append_character(out, utf8proc_tolower(code));
                break;
            case LetterCase::swap:
                if (is_upper(code)) {
                    append_character(out, utf8proc_tolower(code));
                } else {
                    append_upper(out, code, false);
                }
                break;
            case LetterCase::capitalize:
                first_upper(out, code, is_first_);
                break;
            case LetterCase::title:
                first_upper(out, code, !after_cased_);
                break;
        }
        is_first_ = false;
        after_cased_ = is_cased(code);
    }

private:
    static void first_upper(std::string& out, std::int32_t code, bool is_first) {
        if (is_first) {
            append_upper(out, code, true);
        } else {
            append_character(out, utf8proc_tolower(code));
        }
    }

    LetterCase case_;
    bool is_first_ = true;
    bool after_cased_ = false;
};

}  // namespace

Value change_case(Machine& machine, const MarkedString& text, LetterCase letter_case) {
    Builder out(machine.budget());
    CaseChanger changer(letter_case);
    text.for_runs(0, text.size(), [&](std::string_view bytes, bool trusted) {
        machine.budget().memory().need(2 * bytes.size());
        std::string changed;
        changed.reserve(bytes.size());
        for (std::size_t at = 0; at < bytes.size();) {
            const Character next = character_at(bytes, at);
            if (next.code < 0) {
                changed.push_back(bytes[at]);
            } else {
                changer.add(changed, next.code);
            }
            at += next.length;
        }
        out.append(changed, trusted);
    });
    return machine.string(out.take());
}

Value title_words(Machine& machine, const MarkedString& text) {
    Builder out(machine.budget());
    bool is_start = true;
    text.for_runs(0, text.size(), [&](std::string_view bytes, bool trusted) {
        machine.budget().memory().need(2 * bytes.size());
        std::string changed;
        for (std::size_t at = 0; at < bytes.size();) {
            const Character next = character_at(bytes, at);
            if (next.code < 0) {
                changed.push_back(bytes[at]);
            } else if (is_start) {
                append_upper(changed, next.code, false);
            } else {
                append_character(changed, utf8proc_tolower(next.code));
            }
            is_start = is_space(next.code) ||
                       (next.code > 0 && next.code < 0x80 &&
                        std::string_view("-({[<").find(static_cast<char>(next.code)) !=
                            std::string_view::npos);
            at += next.length;
        }
        out.append(changed, trusted);
    });
    return machine.string(out.take());
}

Span strip(Machine& machine, std::string_view text, const Value* characters, Sides sides) {
    machine.budget().work(text.size());
    if (characters == nullptr || characters->is_none()) {
        Span kept{0, sides.right ? end_without_spaces(text) : text.size()};
        if (sides.left) kept.begin = std::min(after_spaces(text), kept.end);
        return kept;
    }
    demand_defined(*characters);
    if (characters->kind() != Kind::string) fail("strip arg must be None or str");
    const std::string_view set = characters->as_string();
    const auto in_set = [&](std::size_t at, std::size_t length) {
        machine.budget().work(set.size());
        return find_text(set, text.substr(at, length)) != std::string_view::npos;
    };
    Span kept{0, text.size()};
    while (sides.left && kept.begin < kept.end) {
        const std::size_t length = character_at(text, kept.begin).length;
        if (!in_set(kept.begin, length)) break;
        kept.begin += length;
    }
    while (sides.right && kept.end > kept.begin) {
        const std::size_t length = character_before(text, kept.end).length;
        if (!in_set(kept.end - length, length)) break;
        kept.end -= length;
    }
    return kept;
}

Value replace(Machine& machine, const MarkedString& text, const MarkedString& old,
              const MarkedString& by, std::int64_t most) {
    Builder out(machine.budget());
    machine.budget().work(text.size() + old.size());
    const std::string_view view = text.view();
    std::size_t done = 0;  // copied so far
    std::size_t from = 0;  // where to look next
    for (; most != 0; --most) {
        const std::size_t found = find_text(view, old.view(), from);
        if (found == std::string_view::npos || found > view.size()) break;
        machine.budget().step();
        out.append(text, done, found);
        out.append(by);
        done = found + old.size();
        from = done;
        if (!old.empty()) continue;
        // An empty text is found before every character and at the end.
        if (found == view.size()) break;
        from = found + character_at(view, found).length;
    }
    out.append(text, done, view.size());
    return machine.string(out.take());
}

Value join(Machine& machine, const MarkedString& separator, const std::vector<Value>& items) {
    Builder out(machine.budget());
    bool is_first = true;
    for (const Value& item : items) {
        machine.budget().step();
        if (!is_first) out.append(separator);
        is_first = false;
        print(machine, item, out);
    }
    return machine.string(out.take());
}

Value pad(Machine& machine, const MarkedString& text, std::int64_t width, Align align,
          const MarkedString& fill) {
    const auto length = static_cast<std::int64_t>(count_characters(text.view()));
    machine.budget().work(text.size());
    const std::int64_t missing = std::max<std::int64_t>(width - length, 0);
    std::int64_t left = 0;
    if (align == Align::right) left = missing;
    // As CPython's str.center splits an odd number of fill characters.
    if (align == Align::center) left = missing / 2 + (missing & width & 1);
    Builder out(machine.budget());
    for (std::int64_t i = 0; i < left; ++i) out.append(fill);
    out.append(text);
    for (std::int64_t i = left; i < missing; ++i) out.append(fill);
    return machine.string(out.take());
}

}  // namespace hearth::chat
