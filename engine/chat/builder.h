// Builds text within the budget: what it holds is charged while it grows.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/chat/budget.h"
#include "engine/chat/marked_string.h"

namespace hearth::chat {

class Builder {
public:
    explicit Builder(Budget& budget) : budget_(budget) {}
    ~Builder() { budget_.memory().release(charged_); }
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    void append(std::string_view bytes, bool trusted) {
        before(bytes.size());
        text_.append(bytes, trusted);
        after();
    }
    void append(const MarkedString& text) { append(text, 0, text.size()); }
    void append(const MarkedString& text, std::size_t begin, std::size_t end) {
        before(end - begin);
        text_.append(text, begin, end);
        after();
    }
    std::size_t size() const { return text_.size(); }
    const MarkedString& text() const { return text_; }
    MarkedString take() {
        budget_.memory().release(std::exchange(charged_, 0));
        text_.shrink();
        return std::exchange(text_, {});
    }

private:
    void before(std::size_t bytes) {
        budget_.work(bytes);
        budget_.memory().need(bytes);
    }
    void after() {
        const std::size_t heap = text_.heap_bytes();
        if (heap <= charged_) return;
        budget_.memory().charge(heap - charged_);
        charged_ = heap;
    }

    Budget& budget_;
    MarkedString text_;
    std::size_t charged_ = 0;
};

}  // namespace hearth::chat
