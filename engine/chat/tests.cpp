// Tests ("x is …"); see functions.h.
#include <array>

#include "engine/chat/functions.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"
#include "engine/chat/string_checks.h"

namespace hearth::chat {
namespace {

Value answer(bool flag) { return Value::boolean(flag, Origin::trusted); }

template <bool (*check)(const Value&)>
Value simple(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("a test", arguments, {});
    return answer(check(input));
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_boolean(const Value& value) { return value.kind() == Kind::boolean; }
bool is_true(const Value& value) { return is_boolean(value) && truth(value); }
bool is_false(const Value& value) { return is_boolean(value) && !truth(value); }
bool is_integer(const Value& value) { return value.kind() == Kind::integer; }
bool is_float(const Value& value) { return value.kind() == Kind::real; }
bool is_string(const Value& value) { return value.kind() == Kind::string; }
bool is_mapping(const Value& value) { return value.kind() == Kind::object; }
bool is_escaped(const Value& value) { return ValueAccess::is_markup(value); }
bool is_callable(const Value& value) {
    // Python's Undefined has a __call__ (that raises).
    return value.is_undefined() || (value.kind() == Kind::other && other(value).is_callable());
}
bool is_sequence(const Value& value) {
    if (value.kind() != Kind::list)
        return value.is_undefined() || value.kind() == Kind::string || value.kind() == Kind::object;
    const ListKind kind = ValueAccess::list(value).kind;
    return kind == ListKind::list || kind == ListKind::tuple || kind == ListKind::range;
}

Value divides(Machine& machine, const Value& input, const Value& number) {
    return arithmetic(machine, Operator::modulo, input, number);
}

Value test_odd(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("odd", arguments, {});
    return answer(equal(machine, divides(machine, input, Value::integer(2)), Value::integer(1)));
}
Value test_even(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("even", arguments, {});
    return answer(equal(machine, divides(machine, input, Value::integer(2)), Value::integer(0)));
}
Value test_divisibleby(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("divisibleby", arguments, {"num"}, 1);
    return answer(equal(machine, divides(machine, input, bound[0]), Value::integer(0)));
}

template <Operator op>
Value compared(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("a comparison", arguments, {"other"}, 1);
    return answer(compare(machine, op, input, bound[0]));
}

Value test_sameas(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("sameas", arguments, {"other"}, 1);
    const Value& other_value = bound[0];
    if (input.kind() != other_value.kind()) return answer(false);
    if (ValueAccess::has_node(input))
        return answer(ValueAccess::node(input) == ValueAccess::node(other_value));
    return answer(input.is_undefined() || same_key(input, other_value));
}

template <bool (*check)(std::string_view)>
Value letters(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("lower or upper", arguments, {});
    return answer(check(to_string(machine, input).as_string()));
}

template <Function (*find)(std::string_view)>
Value known(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("filter or test", arguments, {});
    return answer(input.kind() == Kind::string && find(input.as_string()) != nullptr);
}

constexpr std::array<NamedFunction, 39> kTests = {{
    {"defined", simple<is_defined>},
    {"undefined", simple<is_undefined>},
    {"none", simple<is_none>},
    {"boolean", simple<is_boolean>},
    {"true", simple<is_true>},
    {"false", simple<is_false>},
    {"integer", simple<is_integer>},
    {"float", simple<is_float>},
    {"number", simple<is_number>},
    {"string", simple<is_string>},
    {"mapping", simple<is_mapping>},
    {"iterable", simple<is_iterable>},
    {"sequence", simple<is_sequence>},
    {"callable", simple<is_callable>},
    {"escaped", simple<is_escaped>},
    {"odd", test_odd},
    {"even", test_even},
    {"divisibleby", test_divisibleby},
    {"sameas", test_sameas},
    {"lower", letters<is_all_lower>},
    {"upper", letters<is_all_upper>},
    {"filter", known<find_filter>},
    {"test", known<find_test>},
    {"in", compared<Operator::in>},
    {"==", compared<Operator::equal>},
    {"eq", compared<Operator::equal>},
    {"equalto", compared<Operator::equal>},
    {"!=", compared<Operator::not_equal>},
    {"ne", compared<Operator::not_equal>},
    {">", compared<Operator::greater>},
    {"gt", compared<Operator::greater>},
    {"greaterthan", compared<Operator::greater>},
    {">=", compared<Operator::greater_equal>},
    {"ge", compared<Operator::greater_equal>},
    {"<", compared<Operator::less>},
    {"lt", compared<Operator::less>},
    {"lessthan", compared<Operator::less>},
    {"<=", compared<Operator::less_equal>},
    {"le", compared<Operator::less_equal>},
}};

}  // namespace

Function find_test(std::string_view name) {
    for (const NamedFunction& test : kTests)
        if (test.name == name) return test.function;
    return nullptr;
}

}  // namespace hearth::chat
