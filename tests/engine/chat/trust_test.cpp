// The origin of every byte survives what templates do with strings.
#include <gtest/gtest.h>

#include "engine/chat/template.h"

using namespace hearth;
using namespace hearth::chat;

namespace {

struct Case {
    const char* source;
    const char* text;
    const char* marks;  // t: trusted, -: foreign
};

// `m` is "User Text", foreign; `bos` is "<s>", trusted; `list` is ["a", "b"], foreign; `n` is 7,
// foreign.
constexpr Case kCases[] = {
    {"ab{{ m }}c", "abUser Textc", "tt---------t"},
    {"{{ 'lit' }}", "lit", "ttt"},
    {"{{ bos }}{{ m[:2] }}", "<s>Us", "ttt--"},
    {"{{ '<' + m[0] + '>' }}", "<U>", "t-t"},
    {"{{ '<' ~ m[0] ~ '>' }}", "<U>", "t-t"},
    {"{{ ('<' ~ m[:2] ~ '>')[::-1] }}", ">sU<", "t--t"},
    {"{{ ('<' ~ m[:2] ~ '>')[1:] }}", "Us>", "--t"},
    {"{{ ('<' ~ m[:2] ~ '>')|upper }}", "<US>", "t--t"},
    {"{{ ('<' ~ m[:2] ~ 'x>').title() }}", "<Usx>", "t--tt"},
    {"{{ ('<' ~ m[:2] ~ '>') * 2 }}", "<Us><Us>", "t--tt--t"},
    {"{{ m.replace('User', '<|x|>') }}", "<|x|> Text", "ttttt-----"},
    {"{{ m|replace('User', bos) }}", "<s> Text", "ttt-----"},
    {"{{ '<|x|>'|replace('x', m[0]) }}", "<|U|>", "tt-tt"},
    {"{{ (' ' ~ m ~ ' ')|trim }}", "User Text", "---------"},
    {"{{ ('[' ~ m ~ ']').strip('[') }}", "User Text]", "---------t"},
    {"{{ ('a,' ~ m[:1] ~ ',b').split(',')[1] }}", "U", "-"},
    {"{{ ('a,' ~ m[:1] ~ ',b').split(',')[2] }}", "b", "t"},
    {"{{ list|join('+') }}", "a+b", "-t-"},
    {"{{ '+'.join(list) }}", "a+b", "-t-"},
    {"{{ '<{}>'.format(m[:2]) }}", "<Us>", "t--t"},
    {"{{ '<%s>' % m[:2] }}", "<Us>", "t--t"},
    {"{{ '<%s>'|format(m[:2]) }}", "<Us>", "t--t"},
    {"{{ m[:2] ~ '{}' }}", "Us{}", "--tt"},
    {"{{ [m[:1], 'x'] }}", "['U', 'x']", "-------t--"},
    {"{{ [m[:1], 'x']|tojson }}", "[\"U\", \"x\"]", "-------t--"},
    {"{{ {'k': m[:1]}|tojson }}", "{\"k\": \"U\"}", "--t-------"},
    {"{{ n }}{{ 7 }}{{ n + 1 }}{{ 3 + 4 }}", "7787", "-t-t"},
    {"{% for c in m[:2] %}{{ c }}.{% endfor %}", "U.s.", "-t-t"},
    {"{% for x in list %}{{ loop.index }}{{ x }}{% endfor %}", "1a2b", "t-t-"},
    {"{% set x %}<{{ m[:2] }}>{% endset %}{{ x }}", "<Us>", "t--t"},
    {"{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(m[:2]) }}", "<Us>", "t--t"},
    {"{% set ns = namespace(x='') %}{% set ns.x = ns.x ~ m[0] ~ '!' %}{{ ns.x }}", "U!", "-t"},
    {"{% filter upper %}a{{ m[:2] }}{% endfilter %}", "AUS", "t--"},
    {"{{ m|indent(2, true) }}", "  User Text", "tt---------"},
    {"{{ '<b>'|safe + '&' }}", "<b>&amp;", "tttttttt"},
    {"{{ (m|first) ~ (m|last) }}", "Ut", "--"},
    {"{{ d.key }}{{ d['key'] }}{% for k in d %}{{ k }}{% endfor %}", "vvkey", "-----"},
    {"{{ missing|default('x') }}{{ m[0]|default('x') }}", "xU", "t-"},
    {"{{ m if m else 'x' }}", "User Text", "---------"},
    {"{{ raw }}", "<|im_end|>", "----------"},
    {"{{ ('<|' ~ raw ~ '|>').replace('<|im', '<|im') }}", "<|<|im_end|>|>", "tttttt------tt"},
};

TEST(ChatTrust, SurvivesStringOperations) {
    const Value list = Value::list({Value::string("a"), Value::string("b")});
    const Value variables = Value::object({{"m", Value::string("User Text")},
                                           {"bos", Value::string("<s>", Origin::trusted)},
                                           {"list", list},
                                           {"n", Value::integer(7)},
                                           {"raw", Value::string("<|im_end|>")},
                                           {"d", Value::object({{"key", Value::string("v")}})}});
    for (const Case& c : kCases) {
        const auto parsed = Template::parse(c.source);
        ASSERT_TRUE(parsed) << c.source << parsed.error().message;
        const auto rendered = parsed->render(variables, {});
        ASSERT_TRUE(rendered) << c.source << rendered.error().message;
        EXPECT_EQ(rendered->text, c.text) << c.source;
        std::string marks;
        for (const char mark : rendered->trusted) marks += mark == '\1' ? 't' : '-';
        EXPECT_EQ(marks, c.marks) << c.source;
    }
}

}  // namespace
