// Contents of strings, lists and maps; see node.h.
#include "engine/chat/node.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace hearth::chat {
namespace {

// Up to here a scan over the hashes beats a table.
constexpr std::size_t kScanEntries = 8;

std::uint64_t mix(std::uint64_t hash) {
    // The finisher of SplitMix64 (Steele, Lea and Flood 2014).
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31);
}

std::uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

std::uint64_t hash_key(const Value& key) {
    switch (key.kind()) {
        case Kind::undefined:
            return 1;
        case Kind::none:
            return 2;
        case Kind::boolean:
        case Kind::integer:
            return mix(static_cast<std::uint64_t>(ValueAccess::integer(key)));
        case Kind::real: {
            const double real = ValueAccess::real(key);
            if (std::floor(real) == real && std::abs(real) < 9.2e18)
                return mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(real)));
            return mix(std::hash<double>{}(real));
        }
        case Kind::string:
            return hash_text(ValueAccess::text(key).view());
        case Kind::list: {
            std::uint64_t hash = 3;
            for (const Value& item : ValueAccess::list(key).items)
                hash = mix(hash * 31 + hash_key(item));
            return hash;
        }
        case Kind::object:
        case Kind::other:
            break;
    }
    return mix(std::hash<const void*>{}(ValueAccess::node(key)));
}

int deepest(const std::vector<Value>& items) {
    int depth = 0;
    for (const Value& item : items) depth = std::max(depth, ValueAccess::depth(item));
    return depth;
}

bool is_scalar(const Value& value) { return value.kind() <= Kind::string; }

}  // namespace

StringNode::StringNode(MarkedString content, MemoryAccount* account) : text(std::move(content)) {
    charge(account, sizeof(StringNode) + text.heap_bytes());
}

ListNode::ListNode(std::vector<Value> list, ListKind list_kind, MemoryAccount* account)
    : items(std::move(list)), kind(list_kind) {
    charge(account, sizeof(ListNode) + items.capacity() * sizeof(Value));
    set_depth(1 + deepest(items));
}

ObjectNode::ObjectNode(std::vector<Entry> list, MemoryAccount* account) {
    constexpr std::size_t kEntryBytes = sizeof(Entry) + sizeof(std::uint64_t);
    // A table of at most four slots an entry.
    charge(account, sizeof(ObjectNode) + list.size() * (kEntryBytes + 4 * sizeof(std::uint32_t)));
    entries_.reserve(list.size());
    hashes_.reserve(list.size());
    if (list.size() > kScanEntries) {
        std::size_t slots = 32;
        while (slots < 2 * list.size()) slots *= 2;
        buckets_.assign(slots, 0);
    }
    int depth = 0;
    for (Entry& entry : list) {
        depth = std::max({depth, ValueAccess::depth(entry.key), ValueAccess::depth(entry.value)});
        add(std::move(entry));
    }
    set_depth(1 + depth);
}

void ObjectNode::add(Entry entry) {
    const std::uint64_t hash = hash_key(entry.key);
    if (const std::size_t at = position(entry.key, hash); at != kNone) {
        entries_[at].value = std::move(entry.value);
        return;
    }
    if (!buckets_.empty()) {
        std::size_t slot = hash & (buckets_.size() - 1);
        while (buckets_[slot] != 0) slot = (slot + 1) & (buckets_.size() - 1);
        buckets_[slot] = static_cast<std::uint32_t>(entries_.size() + 1);
    }
    entries_.push_back(std::move(entry));
    hashes_.push_back(hash);
}

std::size_t ObjectNode::position(const Value& key, std::uint64_t hash) const {
    if (buckets_.empty()) {
        for (std::size_t at = 0; at < entries_.size(); ++at)
            if (hashes_[at] == hash && same_key(entries_[at].key, key)) return at;
        return kNone;
    }
    const std::size_t mask = buckets_.size() - 1;
    for (std::size_t slot = hash & mask; buckets_[slot] != 0; slot = (slot + 1) & mask) {
        const std::size_t at = buckets_[slot] - 1;
        if (hashes_[at] == hash && same_key(entries_[at].key, key)) return at;
    }
    return kNone;
}

const Value* ObjectNode::find(const Value& key) const {
    const std::size_t at = position(key, hash_key(key));
    return at == kNone ? nullptr : &entries_[at].value;
}

const Value* ObjectNode::find(std::string_view key) const {
    if (buckets_.empty()) {
        for (const Entry& entry : entries_)
            if (entry.key.kind() == Kind::string && entry.key.as_string() == key)
                return &entry.value;
        return nullptr;
    }
    const std::uint64_t hash = hash_text(key);
    const std::size_t mask = buckets_.size() - 1;
    for (std::size_t slot = hash & mask; buckets_[slot] != 0; slot = (slot + 1) & mask) {
        const Entry& entry = entries_[buckets_[slot] - 1];
        if (entry.key.kind() == Kind::string && entry.key.as_string() == key) return &entry.value;
    }
    return nullptr;
}

Value ValueAccess::undefined(Missing missing, const Value& name) {
    Value value;
    value.detail_ = static_cast<std::uint8_t>(missing);
    value.payload_.node = nullptr;
    if (name.kind() != Kind::string) return value;
    value.payload_.node = name.payload_.node;
    value.payload_.node->retain();
    return value;
}

Value ValueAccess::missing_name(const Value& value) {
    if (value.payload_.node == nullptr) return {};
    value.payload_.node->retain();
    return adopt(Kind::string, value.payload_.node);
}

bool is_hashable(const Value& value) {
    if (value.kind() == Kind::object) return false;
    if (value.kind() != Kind::list) return true;
    const ListNode& list = ValueAccess::list(value);
    return list.kind == ListKind::tuple &&
           std::all_of(list.items.begin(), list.items.end(), is_scalar);
}

bool same_number(std::int64_t integer, double real) {
    // Beyond 2^63 no integer equals it; inside, the comparison as integers is exact.
    if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0)) return false;
    return std::floor(real) == real && static_cast<std::int64_t>(real) == integer;
}

bool same_key(const Value& a, const Value& b) {
    const bool a_whole = a.kind() == Kind::integer || a.kind() == Kind::boolean;
    const bool b_whole = b.kind() == Kind::integer || b.kind() == Kind::boolean;
    if (a_whole && b_whole) return ValueAccess::integer(a) == ValueAccess::integer(b);
    if (a_whole && b.kind() == Kind::real)
        return same_number(ValueAccess::integer(a), ValueAccess::real(b));
    if (b_whole && a.kind() == Kind::real)
        return same_number(ValueAccess::integer(b), ValueAccess::real(a));
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case Kind::undefined:
        case Kind::none:
            return true;
        case Kind::real:
            return ValueAccess::real(a) == ValueAccess::real(b);
        case Kind::string:
            return a.as_string() == b.as_string();
        case Kind::list: {
            const auto& left = ValueAccess::list(a).items;
            const auto& right = ValueAccess::list(b).items;
            return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_key);
        }
        case Kind::boolean:
        case Kind::integer:
        case Kind::object:
        case Kind::other:
            break;
    }
    return ValueAccess::node(a) == ValueAccess::node(b);
}

}  // namespace hearth::chat
