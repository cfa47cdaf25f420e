// What a Value points to: counted, immutable contents, and the evaluator's way into a Value.
// Objects that the evaluator itself makes (macros, loops) derive from OtherNode; see objects.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/budget.h"
#include "engine/chat/marked_string.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Node {
public:
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() {
        if (account_ != nullptr) account_->release(charged_);
    }

    void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
    void drop() {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
    bool is_shared() const { return references_.load(std::memory_order_relaxed) > 1; }
    // Levels of lists and objects in it; at least 1.
    int depth() const { return depth_; }

protected:
    Node() = default;
    // Takes `bytes` from the account, which outlives the node. Null: not counted.
    void charge(MemoryAccount* account, std::size_t bytes) {
        if (account == nullptr) return;
        account->charge(bytes);
        account_ = account;
        charged_ += bytes;
    }
    void set_depth(int depth) { depth_ = depth; }

private:
    std::atomic<std::uint32_t> references_{1};
    int depth_ = 1;
    MemoryAccount* account_ = nullptr;  // null for what the caller or the parser made
    std::size_t charged_ = 0;
};

// Who a list is to Python: decides how it prints and what it can do.
enum class ListKind : std::uint8_t {
    list,
    tuple,
    range,
    dict_keys,
    dict_values,
    dict_items,
    generator,  // can be walked once
};

// What an undefined value was looked up on.
enum class Missing : std::uint8_t { name, item, attribute, unsafe, hint };

class StringNode : public Node {
public:
    StringNode(MarkedString text, MemoryAccount* account);
    const MarkedString text;
};

class ListNode : public Node {
public:
    ListNode(std::vector<Value> list, ListKind list_kind, MemoryAccount* account);
    const std::vector<Value> items;
    const ListKind kind;
    // Of a generator: items already taken. Generators belong to one render, so this needs no lock.
    mutable std::size_t taken = 0;
};

struct Entry {
    Value key;  // a string but for maps that a template wrote with other keys
    Value value;
};

class ObjectNode : public Node {
public:
    // Keys may repeat: the first place and the last value stay. Every key must be hashable.
    ObjectNode(std::vector<Entry> list, MemoryAccount* account);
    const std::vector<Entry>& entries() const { return entries_; }
    const Value* find(const Value& key) const;
    const Value* find(std::string_view key) const;

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t position(const Value& key, std::uint64_t hash) const;
    void add(Entry entry);

    std::vector<Entry> entries_;
    std::vector<std::uint64_t> hashes_;   // of entries_
    std::vector<std::uint32_t> buckets_;  // open addressing: entry + 1; empty while few entries
};

// The evaluator's view of a Value.
class ValueAccess {
public:
    // Takes over the reference that a new node has.
    static Value adopt(Kind kind, Node* node) {
        Value value;
        value.kind_ = kind;
        value.payload_.node = node;
        return value;
    }
    static Value undefined(Missing missing, const Value& name);
    static Missing missing(const Value& value) { return static_cast<Missing>(value.detail_ & 7); }
    // The name of an undefined value, or an undefined value.
    static Value missing_name(const Value& value);

    static Node* node(const Value& value) { return value.payload_.node; }
    // Kinds with contents. An undefined value may hold the node of its name; that is not contents.
    static bool has_node(const Value& value) { return value.kind_ >= Kind::string; }
    static const MarkedString& text(const Value& value) {
        return static_cast<const StringNode*>(value.payload_.node)->text;
    }
    static const ListNode& list(const Value& value) {
        return *static_cast<const ListNode*>(value.payload_.node);
    }
    static const ObjectNode& object(const Value& value) {
        return *static_cast<const ObjectNode*>(value.payload_.node);
    }
    static bool is_trusted(const Value& value) { return value.origin_ == Origin::trusted; }
    static int depth(const Value& value) {
        return has_node(value) ? value.payload_.node->depth() : 0;
    }
    // Whether a string was marked as safe; see markup.h.
    static bool is_markup(const Value& value) {
        return value.kind_ == Kind::string && value.detail_ == kMarkup;
    }
    static Value markup(Value text) {
        text.detail_ = kMarkup;
        return text;
    }
    static Value plain(Value text) {
        text.detail_ = 0;
        return text;
    }
    // For 64-bit payloads of numbers and booleans, unchecked.
    static std::int64_t integer(const Value& value) { return value.payload_.integer; }
    static double real(const Value& value) { return value.payload_.real; }

private:
    static constexpr std::uint8_t kMarkup = 1;
};

// Whether a value may be a key: scalars, strings, objects of the evaluator, and tuples of scalars
// and strings (deeper tuples are hashable in Python; here they would let a small template cost much
// time).
bool is_hashable(const Value& value);
// Equality of keys as Python has it: 1, 1.0 and True are one key.
bool same_key(const Value& a, const Value& b);
// Equality of an integer and a double, exact for large numbers.
bool same_number(std::int64_t integer, double real);

}  // namespace hearth::chat
