// Python's arithmetic: 64-bit integers (an overflow is an error), doubles, and + and * of strings
// and lists.
#include <cmath>
#include <string>

#include "engine/base/units.h"
#include "engine/chat/format.h"
#include "engine/chat/machine.h"
#include "engine/chat/markup.h"
#include "engine/chat/operators.h"

namespace hearth::chat {
namespace {

std::string_view sign_of(Operator op) {
    switch (op) {
        case Operator::add:
            return "+";
        case Operator::subtract:
            return "-";
        case Operator::multiply:
            return "*";
        case Operator::divide:
            return "/";
        case Operator::floor_divide:
            return "//";
        case Operator::modulo:
            return "%";
        default:
            return "** or pow()";
    }
}

[[noreturn]] void fail_overflow() { fail("a number does not fit 64 bits"); }
[[noreturn]] void fail_zero() { fail("division by zero"); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    if (b == 0) fail_zero();
    if (b == -1) {
        std::int64_t negated = 0;
        if (__builtin_sub_overflow(std::int64_t{0}, a, &negated)) fail_overflow();
        return negated;
    }
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
    if (b == 0) fail_zero();
    if (b == -1) return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double modulo(double a, double b) {
    if (b == 0) fail_zero();
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) fail_overflow();
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
            // The square is not needed when the base is 0, 1 or -1, which do not overflow.
            fail_overflow();
        }
    }
    return result;
}

Value whole_result(Operator op, std::int64_t a, std::int64_t b, Origin origin) {
    std::int64_t result = 0;
    bool overflows = false;
    switch (op) {
        case Operator::add:
            overflows = __builtin_add_overflow(a, b, &result);
            break;
        case Operator::subtract:
            overflows = __builtin_sub_overflow(a, b, &result);
            break;
        case Operator::multiply:
            overflows = __builtin_mul_overflow(a, b, &result);
            break;
        case Operator::floor_divide:
            result = floor_divide(a, b);
            break;
        case Operator::modulo:
            result = modulo(a, b);
            break;
        case Operator::power:
            if (b < 0) {
                if (a == 0) fail("0.0 cannot be raised to a negative power");
                return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)),
                                   origin);
            }
            result = power(a, b);
            break;
        default:
            if (b == 0) fail_zero();
            return Value::real(static_cast<double>(a) / static_cast<double>(b), origin);
    }
    if (overflows) fail_overflow();
    return Value::integer(result, origin);
}

double real_result(Operator op, double a, double b) {
    switch (op) {
        case Operator::add:
            return a + b;
        case Operator::subtract:
            return a - b;
        case Operator::multiply:
            return a * b;
        case Operator::floor_divide:
            if (b == 0) fail_zero();
            return std::floor((a - modulo(a, b)) / b + 0.5);
        case Operator::modulo:
            return modulo(a, b);
        case Operator::power:
            break;
        default:
            if (b == 0) fail_zero();
            return a / b;
    }
    if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power");
    if (a < 0 && std::floor(b) != b) fail("complex numbers are not supported");
    const double result = std::pow(a, b);
    if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) fail_overflow();
    return result;
}

Value add_lists(Machine& machine, const Value& a, const Value& b) {
    const ListNode& left = ValueAccess::list(a);
    const ListNode& right = ValueAccess::list(b);
    const std::size_t count = left.items.size() + right.items.size();
    machine.budget().items(count);
    machine.budget().memory().need(count * sizeof(Value));
    std::vector<Value> items;
    items.reserve(count);
    items.insert(items.end(), left.items.begin(), left.items.end());
    items.insert(items.end(), right.items.begin(), right.items.end());
    return machine.list(std::move(items), left.kind);
}

bool can_join(const Value& a, const Value& b) {
    if (a.kind() != Kind::list || b.kind() != Kind::list) return false;
    const ListKind kind = ValueAccess::list(a).kind;
    return kind == ValueAccess::list(b).kind && (kind == ListKind::list || kind == ListKind::tuple);
}

bool can_repeat(const Value& value) {
    if (value.kind() == Kind::string) return true;
    if (value.kind() != Kind::list) return false;
    const ListKind kind = ValueAccess::list(value).kind;
    return kind == ListKind::list || kind == ListKind::tuple;
}

Value repeat(Machine& machine, const Value& value, std::int64_t times) {
    const auto count = times < 0 ? std::size_t{0} : static_cast<std::size_t>(times);
    const std::size_t unit = value.kind() == Kind::string ? 1 : sizeof(Value);
    const auto bytes = (Checked(value.size()) * count * unit).value();
    machine.budget().memory().need(bytes ? *bytes : SIZE_MAX);
    if (value.kind() == Kind::string) {
        Builder out(machine.budget());
        for (std::size_t i = 0; i < count && value.size() > 0; ++i)
            out.append(ValueAccess::text(value));
        return machine.string(out.take());
    }
    const ListNode& list = ValueAccess::list(value);
    machine.budget().items(list.items.size() * count);
    std::vector<Value> items;
    items.reserve(list.items.size() * count);
    for (std::size_t i = 0; i < count && !list.items.empty(); ++i)
        items.insert(items.end(), list.items.begin(), list.items.end());
    return machine.list(std::move(items), list.kind);
}

}  // namespace

Value arithmetic(Machine& machine, Operator op, const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) {
        const bool trusted = ValueAccess::is_trusted(a) && ValueAccess::is_trusted(b);
        const Origin origin = trusted ? Origin::trusted : Origin::foreign;
        if (is_whole(a) && is_whole(b))
            return whole_result(op, ValueAccess::integer(a), ValueAccess::integer(b), origin);
        return Value::real(real_result(op, to_real(a), to_real(b)), origin);
    }
    if (op == Operator::modulo && a.kind() == Kind::string)
        return ValueAccess::is_markup(a) ? format_markup(machine, a, b)
                                         : format_percent(machine, a, b);
    demand_defined(a);
    demand_defined(b);
    if (op == Operator::add) {
        if (a.kind() == Kind::string && b.kind() == Kind::string) {
            if (ValueAccess::is_markup(a) || ValueAccess::is_markup(b))
                return add_markup(machine, a, b);
            Builder out(machine.budget());
            out.append(ValueAccess::text(a));
            out.append(ValueAccess::text(b));
            return machine.string(out.take());
        }
        if (can_join(a, b)) return add_lists(machine, a, b);
        if (a.kind() == Kind::string || can_repeat(a))
            fail("can only concatenate " + type_name(a) + " (not \"" + type_name(b) + "\") to " +
                 type_name(a));
    }
    if (op == Operator::multiply) {
        if (can_repeat(a) && is_whole(b)) return repeat(machine, a, ValueAccess::integer(b));
        if (can_repeat(b) && is_whole(a)) return repeat(machine, b, ValueAccess::integer(a));
    }
    fail("unsupported operand type(s) for " + std::string(sign_of(op)) + ": '" + type_name(a) +
         "' and '" + type_name(b) + "'");
}

Value negate(const Value& value) {
    demand_defined(value);
    const Origin origin = ValueAccess::is_trusted(value) ? Origin::trusted : Origin::foreign;
    if (value.kind() == Kind::real) return Value::real(-ValueAccess::real(value), origin);
    if (!is_whole(value)) fail("bad operand type for unary -: '" + type_name(value) + "'");
    std::int64_t result = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, ValueAccess::integer(value), &result))
        fail_overflow();
    return Value::integer(result, origin);
}

}  // namespace hearth::chat
