// Counts the nesting of the parser; a part of parser.h for its .cpp files only.
#pragma once

#include "engine/chat/parser.h"

namespace hearth::chat {

class Parser::Nest {
public:
    explicit Nest(Parser& parser) : parser_(parser) {
        try {
            if (++parser_.nesting_ > parser_.limits_.depth)
                fail_too_deep("tags and parentheses", parser_.limits_.depth);
            parser_.stack_.check();
        } catch (Failure& failure) {
            failure.line = parser_.token_.line;
            throw;
        }
    }
    ~Nest() { --parser_.nesting_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

private:
    Parser& parser_;
};

}  // namespace hearth::chat
