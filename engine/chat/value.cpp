// Counting and the public face of Value; the contents are in node.h.
#include "engine/chat/value.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/chat/node.h"

namespace hearth::chat {

namespace {

bool counts(Kind kind) { return kind == Kind::undefined || kind >= Kind::string; }

}  // namespace

Value::Value(const Value& other)
    : kind_(other.kind_), origin_(other.origin_), detail_(other.detail_), payload_(other.payload_) {
    if (counts(kind_) && payload_.node != nullptr) payload_.node->retain();
}

Value::Value(Value&& other) noexcept
    : kind_(other.kind_), origin_(other.origin_), detail_(other.detail_), payload_(other.payload_) {
    other.kind_ = Kind::undefined;
    other.payload_.node = nullptr;
}

Value& Value::operator=(const Value& other) {
    Value copy(other);
    return *this = std::move(copy);
}

Value& Value::operator=(Value&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(origin_, other.origin_);
    std::swap(detail_, other.detail_);
    std::swap(payload_, other.payload_);
    return *this;
}

Value::~Value() {
    if (counts(kind_) && payload_.node != nullptr) payload_.node->drop();
}

Value Value::none() {
    Value value;
    value.kind_ = Kind::none;
    return value;
}

Value Value::boolean(bool flag, Origin origin) {
    Value value;
    value.kind_ = Kind::boolean;
    value.origin_ = origin;
    value.payload_.integer = flag ? 1 : 0;
    return value;
}

Value Value::integer(std::int64_t number, Origin origin) {
    Value value;
    value.kind_ = Kind::integer;
    value.origin_ = origin;
    value.payload_.integer = number;
    return value;
}

Value Value::real(double number, Origin origin) {
    Value value;
    value.kind_ = Kind::real;
    value.origin_ = origin;
    value.payload_.real = number;
    return value;
}

Value Value::string(std::string_view bytes, Origin origin) {
    return ValueAccess::adopt(
        Kind::string, new StringNode(MarkedString(bytes, origin == Origin::trusted), nullptr));
}

Value Value::list(std::vector<Value> items) {
    return ValueAccess::adopt(Kind::list, new ListNode(std::move(items), ListKind::list, nullptr));
}

Value Value::object(std::vector<Member> members) {
    std::vector<Entry> entries;
    entries.reserve(members.size());
    for (Member& member : members)
        entries.push_back({Value::string(member.key), std::move(member.value)});
    return ValueAccess::adopt(Kind::object, new ObjectNode(std::move(entries), nullptr));
}

bool Value::as_boolean() const {
    HEARTH_CHECK(kind_ == Kind::boolean);
    return payload_.integer != 0;
}

std::int64_t Value::as_integer() const {
    HEARTH_CHECK(kind_ == Kind::integer);
    return payload_.integer;
}

double Value::as_real() const {
    HEARTH_CHECK(kind_ == Kind::real);
    return payload_.real;
}

std::string_view Value::as_string() const {
    HEARTH_CHECK(kind_ == Kind::string);
    return ValueAccess::text(*this).view();
}

std::span<const Value> Value::as_list() const {
    HEARTH_CHECK(kind_ == Kind::list);
    return ValueAccess::list(*this).items;
}

std::size_t Value::size() const {
    switch (kind_) {
        case Kind::string:
            return ValueAccess::text(*this).size();
        case Kind::list:
            return ValueAccess::list(*this).items.size();
        case Kind::object:
            return ValueAccess::object(*this).entries().size();
        case Kind::undefined:
        case Kind::none:
        case Kind::boolean:
        case Kind::integer:
        case Kind::real:
        case Kind::other:
            return 0;
    }
    return 0;
}

const Value* Value::find(std::string_view key) const {
    return kind_ == Kind::object ? ValueAccess::object(*this).find(key) : nullptr;
}

}  // namespace hearth::chat
