// The values that a chat template sees: ordered, immutable, cheap to copy (16 bytes, shared
// content). Callers turn their JSON into Values; every byte of a string knows whether it is trusted
// (see engine/base/marked_text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::chat {

enum class Kind : std::uint8_t {
    undefined,  // a name or member that is not there; prints as nothing
    none,
    boolean,
    integer,
    real,
    string,
    list,    // lists, tuples, ranges, dictionary views and generators
    object,  // insertion-ordered map
    other,   // made by the evaluator only: macros, methods, namespaces, loops
};

// Who wrote the bytes. Everything in a message, tool or client argument is foreign.
enum class Origin : std::uint8_t { foreign, trusted };

class Node;
struct Member;

// Copies may be used from several threads at once.
class Value {
public:
    Value() = default;  // undefined
    Value(const Value& other);
    Value(Value&& other) noexcept;
    Value& operator=(const Value& other);
    Value& operator=(Value&& other) noexcept;
    ~Value();

    static Value none();
    static Value boolean(bool value, Origin origin = Origin::foreign);
    static Value integer(std::int64_t value, Origin origin = Origin::foreign);
    static Value real(double value, Origin origin = Origin::foreign);
    // `bytes` should be UTF-8; a byte that is not counts as one character.
    static Value string(std::string_view bytes, Origin origin = Origin::foreign);
    static Value list(std::vector<Value> items);
    // Keeps the order of `members`. A key that comes twice keeps its first place and its last
    // value.
    static Value object(std::vector<Member> members);

    Kind kind() const { return kind_; }
    bool is_undefined() const { return kind_ == Kind::undefined; }
    bool is_none() const { return kind_ == Kind::none; }

    // Each of these demands its kind (HEARTH_CHECK).
    bool as_boolean() const;
    std::int64_t as_integer() const;
    double as_real() const;
    std::string_view as_string() const;
    std::span<const Value> as_list() const;

    // Items of a list, members of an object, bytes of a string; 0 for all else.
    std::size_t size() const;
    // The member of an object, or null; null too when this is no object.
    const Value* find(std::string_view key) const;

private:
    friend class ValueAccess;  // node.h: the evaluator's way in

    union Payload {
        std::int64_t integer;
        double real;
        Node* node;  // owned by count; null only for an undefined value without a name
    };

    Kind kind_ = Kind::undefined;
    Origin origin_ = Origin::foreign;  // of numbers, booleans and none
    std::uint8_t detail_ = 0;  // undefined: what it was looked up on; string: whether it is safe
    Payload payload_{.integer = 0};
};

struct Member {
    std::string key;
    Value value;
};

}  // namespace hearth::chat
