#!/usr/bin/env python3
"""Writes template_goldens.json: small templates and what Jinja2, set up as transformers sets it up, makes of them.

Needs Jinja2 3.1 (made with 3.1.6). Run it in this folder: python3 make_template_goldens.py
"""

import datetime
import json

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 1, 5, 9, 7, 3)

VARIABLES = {
    "s": "Hello, World",
    "empty": "",
    "spaced": "  two  words \n",
    "uni": "Zürich 你好 🙂 ß",
    "html": "<a href=\"x\">'&'</a>",
    "lines": "one\ntwo\n\nthree",
    "csv": "a,b,,c",
    "n": 7,
    "neg": -3,
    "zero": 0,
    "f": 2.5,
    "big": 1e20,
    "tiny": 0.00001,
    "yes": True,
    "no": False,
    "null": None,
    "list": [1, 2, 3, 4, 5],
    "words": ["pear", "Apple", "fig", "apple"],
    "mixed": [1, "a", None, True, 2.5, [1, [2]], {"k": "v"}],
    "nothing": [],
    "d": {"b": 1, "a": 2, "C": [1, 2], "items": "hidden", "nested": {"x": {"y": "deep"}}},
    "void": {},
    "people": [
        {"name": "Ann", "age": 31, "city": {"name": "Rome"}, "tags": ["x"]},
        {"name": "bob", "age": 25, "city": {"name": "Oslo"}, "tags": []},
        {"name": "Cid", "age": 31, "city": {"name": "Rome"}},
    ],
    "tree": [{"v": 1, "c": [{"v": 2, "c": [{"v": 3, "c": []}]}, {"v": 4, "c": []}]}],
    "quote": "it's",
    "both": "it's \"q\"",
    "control": "tab\there\x01\x7f",
}

EXPRESSIONS = """
1
1.0
-1.5
1e3
1_000
0x1f
0o17
0b101
'a' 'b'
"a\\nb\\t\\x41\\u00e9\\\\"
'\\d'
'\\101'
true
True
none
None
[1, 'a', none, true, 2.5]
(1, 2)
(1,)
()
1, 2
{'a': 1, 'b': [1]}
{1: 'x', none: 'y', true: 'z'}
{'a': 1, 'a': 2}
{}
[]
[[], {}, ()]
mixed
d
quote
both
[quote, both, control]
[s, uni]
uni
big
tiny
f
[big, tiny, 1e16, 1e15, 123456789.123, 0.1, 100.0, 1e-4, 1e22, 5e-324]
n + 1
n - 10
n * 2
n / 2
n // 2
n % 4
neg // 2
neg % 4
n ** 2
2 ** -1
2 ** 3 ** 2
-2 ** 2
7.5 // 2
-7.5 // 2
-7.5 % 2
7 % -3
1 / 3
10 / 5
n + f
yes + 1
-n
+n
-yes
- -n
1 + 2 * 3 - 4
(1 + 2) * 3
1 / 0
1 // 0
1 % 0
1.0 / 0
'a' + 'b'
'a' + 1
1 + 'a'
'a' * 3
3 * 'ab'
'a' * -1
[1] + [2]
[1, 2] * 2
(1,) + (2,)
[1] + (2,)
'a' ~ 1 ~ none ~ 2.5 ~ [1]
s ~ missing
missing ~ missing
missing
missing + 1
missing + 'a'
'a' + missing
missing.attr
missing['x']
missing()
-missing
missing == missing
missing == none
missing < 1
d.missing
d.missing.more
d['missing']['more']
d.nested.x.y
d['nested']['x']['y']
d.nope is defined
d.a
d['a']
d.items
d['items']
d.items is string
d['items'] is string
list[0]
list[-1]
list[9]
list[9] is defined
list['x']
list.0
list[1.0]
list[true]
s[0]
s[-1]
s[99]
uni[7]
uni[-3]
list[1:3]
list[:2]
list[2:]
list[::2]
list[::-1]
list[-2:]
list[:-2]
list[4:1:-1]
list[10:20]
list[-100:100]
list[::-2]
s[1:4]
s[::-1]
s[-3:]
uni[3:9]
uni[::-1]
s[5:2]
(1, 2, 3)[1:]
list[none:2]
none[0]
n[0]
n.x
none.x
none.x.y
1 == 1.0
1 == true
0 == false
'1' == 1
[1, 2] == [1, 2]
[1] == (1,)
{'a': 1} == {'a': 1.0}
{'a': 1} != {'a': 2}
none == false
1 < 2
1 < 2 < 3
1 < 3 < 2
3 > 2 >= 2
1 <= 1 != 2
'a' < 'b'
'a' < 'B'
[1, 2] < [1, 3]
[1] < [1, 0]
'a' < 1
none < 1
1 < 2.5
'll' in s
'x' in s
'' in s
1 in s
3 in list
9 in list
9 not in list
'a' in d
'z' not in d
not 'a' in d
'x' in missing
missing in list
1 in 1
none in [none]
1.0 in list
[1] in d
not true
not not n
not missing
yes and no
yes or no
n and s
zero and s
zero or s
none or 'fallback'
missing or 'fallback'
'' or 0 or []
1 or 2 and 3
not 1 == 2
'y' if yes else 'n'
'y' if no else 'n'
'y' if no
('y' if no) is defined
'a' if no else 'b' if no else 'c'
'yes' if n > 5 and s else 'no'
yes is true
yes is false
n is true
1 is true
n is integer
f is integer
yes is integer
f is float
n is float
n is number
yes is number
s is number
s is string
n is string
d is mapping
list is mapping
list is iterable
s is iterable
n is iterable
d is iterable
missing is iterable
none is iterable
list is sequence
s is sequence
d is sequence
n is sequence
(1, 2) is sequence
missing is sequence
range(3) is sequence
d.items() is sequence
yes is boolean
n is boolean
none is none
n is none
missing is none
missing is undefined
n is undefined
n is defined
missing is not defined
n is not none
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is eq 7
n is ne 7
n is gt 3
n is ge 7
n is lt 3
n is le 7
n is equalto 7
n is == 7
n is in list
3 is in [1, 3]
3 is not in [1, 3]
'abc' is lower
'ABC' is upper
'aBC' is upper
none is sameas none
list is sameas list
1 is sameas 1.0
range is callable
s is callable
'upper' is filter
'nope' is filter
'odd' is test
s is escaped
s|safe is escaped
not n is odd
n is odd and yes
s is string and n is number
s|upper
s|lower
uni|upper
uni|lower
uni|title
'straße'|upper
'hello world-foo (bar) it\\'s'|title
'hELLO wORLD'|capitalize
spaced|trim
'[' ~ spaced|trim ~ ']'
'xxhixx'|trim('x')
n|trim
none|upper
missing|upper
s|length
uni|length
list|length
d|length
missing|length
n|length
s|count
s|replace('l', 'L')
s|replace('l', 'L', 2)
s|replace('', '-')
n|replace(7, 8)
s|first
s|last
uni|last
list|first
list|last
nothing|first
nothing|last
nothing|first is defined
d|first
d|last
list|join
list|join(', ')
words|join('-')
mixed|join('|')
nothing|join(',')
people|join(', ', attribute='name')
s|join('.')
d|join(',')
missing|join(',')
list|reverse|list
s|reverse
list|sort(reverse=true)
words|sort
words|sort(case_sensitive=true)
people|sort(attribute='age')|map(attribute='name')|list
people|sort(attribute='age,name')|map(attribute='name')|list
people|sort(attribute='city.name')|map(attribute='name')|join(',')
mixed|sort
[3, 1, 2]|sort
[2.5, 1, true]|sort
['b', 'A']|sort
d|dictsort
{'b': 1, 'a': 2}|dictsort
{'b': 1, 'A': 2, 'a': 3}|dictsort
{'b': 1, 'A': 2, 'a': 3}|dictsort(true)
{'b': 1, 'a': 2}|dictsort(by='value')
{'b': 1, 'a': 2}|dictsort(reverse=true)
{'b': 1, 'a': 2}|dictsort(false, 'value', true)
words|unique|list
words|unique(case_sensitive=true)|list
people|unique(attribute='age')|map(attribute='name')|list
[1, 1.0, true, 2]|unique|list
list|map('string')|list
words|map('upper')|join(',')
words|map('replace', 'p', 'P')|list
people|map(attribute='name')|list
people|map(attribute='tags.0', default='-')|list
people|map(attribute='nope', default='d')|list
people|map(attribute='nope')|list
people|map('nofilter')|list
list|map
list|select('odd')|list
list|select('gt', 2)|list
mixed|select|list
mixed|select('string')|list
list|reject('odd')|list
mixed|reject|list
people|selectattr('age', 'equalto', 31)|map(attribute='name')|list
people|selectattr('tags')|map(attribute='name')|list
people|selectattr('tags', 'defined')|map(attribute='name')|list
people|selectattr('city.name', 'eq', 'Rome')|list|length
people|rejectattr('age', 'eq', 31)|map(attribute='name')|list
people|rejectattr('tags')|map(attribute='name')|list
list|select('notest')|list
list|select('odd')|length
list|select('odd')|first
list|select('odd')|last
list|select('odd') is iterable
list|select('odd') is sequence
list|sum
people|sum(attribute='age')
people|sum('age', 100)
nothing|sum
words|sum
list|min
list|max
words|min
words|max(case_sensitive=true)
people|max(attribute='age')
nothing|min
list|batch(2)|list
list|batch(2, 'x')|list
list|slice(2)|list
list|slice(3, 'x')|list
missing|default('d')
missing|default
none|default('d')
none|default('d', true)
''|default('d', boolean=true)
s|default('d')
missing|d('x')
d.nope|default('x')
d.nope.more|default('x')
5|abs
neg|abs
(-2.5)|abs
s|abs
'42'|int
' 42 '|int
'4_2'|int
'42.9'|int
'x'|int
'x'|int(-1)
'0x1f'|int(0, 16)
'1f'|int(base=16)
'11'|int(0, 2)
3.99|int
(-3.99)|int
none|int
yes|int
list|int
missing|int
'3.5'|float
'1e3'|float
'x'|float
'x'|float(1.5)
n|float
none|float
2.5|round
3.5|round
2.675|round(2)
1234.567|round(1)
2.4|round(0, 'ceil')
2.6|round(0, 'floor')
2.345|round(2, 'floor')
n|round
n|round|int
1.005|round(2)
lines|indent
lines|indent(2)
lines|indent(2, true)
lines|indent(2, first=true, blank=true)
lines|indent('> ')
'a\\n'|indent(2)
''|indent
''|indent(2, true)
'[' ~ ('mid'|center(9)) ~ ']'
'[' ~ ('midd'|center(9)) ~ ']'
'foo bar baz qux'|truncate(9)
'foo bar baz qux'|truncate(9, true)
'foo bar baz qux'|truncate(11)
'foo bar baz qux'|truncate(11, false, '...', 0)
'foo bar baz qux'|truncate(9, end='!')
'foo, bar baz'|wordcount
html|escape
html|e
html|forceescape
html|safe
html|safe|escape
'<b>'|safe + html
html + '<b>'|safe
('<b>'|safe) ~ html
'<b>%s</b>'|safe % html
'<b>{}</b>'|safe.format(html)
('<i>'|safe).join(['<', '>'])
['<'|safe]
'%s and %s'|format('a', 1)
'%(x)s'|format(x='y')
'%s' % 'a'
'%s %s' % ('a', none)
'%d' % 3.7
'%5d|%-5d|%05d' % (42, 42, 42)
'%x %X %o' % (255, 255, 8)
'%.2f' % 3.14159
'%8.3f|' % 3.14159
'%e' % 12345.678
'%g' % 0.0001
'%g' % 1234567.0
'%%'|format
'%s' % [1]
'%r' % 'a'
'%10s|%-10s|' % ('a', 'b')
'%.2s' % 'abcdef'
'%(a)s-%(b)d' % {'a': 'x', 'b': 2}
'%+d' % 5
'%c' % 'x'
'%s' % missing
'%d' % 'a'
'%s %s' % 'a'
'%s' % ('a', 'b')
'{} {}'.format('a', 1)
'{0} {1} {0}'.format('a', 'b')
'{x}'.format(x=1)
'{a.b}'.format(a={'b': 1})
'{a[b]}'.format(a={'b': 1})
'{0[1]}'.format([1, 2])
'{:>5}|{:<5}|{:^5}'.format('a', 'b', 'c')
'{:*^9}'.format('mid')
'{:05d}'.format(42)
'{:+}'.format(42)
'{:,}'.format(1234567)
'{:.2f}'.format(3.14159)
'{:8.2f}|'.format(3.14159)
'{:x} {:#x} {:b} {:o}'.format(255, 255, 5, 8)
'{:%}'.format(0.25)
'{:.1%}'.format(0.256)
'{:e}'.format(12345.678)
'{:g}'.format(0.00001)
'{:.3}'.format(3.14159)
'{:.3}'.format('abcdef')
'{!r}'.format('a')
'{!s:>4}'.format('a')
'{{}}'.format()
'{}'.format(none)
'{}'.format([1, 'a'])
'{}'.format(missing)
'{} {}'.format('a')
'{'.format()
'}'.format()
'{:d}'.format('a')
s.upper()
s.lower()
s.title()
"it's a test".title()
s.swapcase()
'hELLO'.capitalize()
spaced.strip() ~ '|'
spaced.lstrip() ~ '|'
spaced.rstrip() ~ '|'
'   '.strip() ~ '|'
'   '.rstrip() ~ '|'
'   '.lstrip() ~ '|'
'xyhixy'.strip('xy')
'xyhixy'.lstrip('yx')
'xyhixy'.rstrip('yx')
csv.split(',')
csv.split(',', 1)
csv.split(',', maxsplit=2)
csv.rsplit(',', 1)
csv.split('')
spaced.split()
' a b  c '.split(none, 1)
' a b  c '.rsplit(none, 1)
''.split()
''.split(',')
'a--b--c'.split('--')
'abcabc'.split('bc')
lines.splitlines()
'a\\nb\\n'.splitlines()
'a\\nb\\n'.splitlines(true)
s.startswith('Hello')
s.startswith(('x', 'He'))
s.startswith('World', 7)
s.endswith('World')
s.endswith(('x', 'd'))
s.startswith(1)
s.find('o')
s.find('o', 5)
s.find('zz')
s.rfind('o')
s.index('o')
s.index('zz')
s.count('l')
s.count('')
uni.find('好')
s.replace('l', 'L')
s.replace('l', 'L', 1)
s.replace('', '.')
s.replace('Hello', '')
','.join(['a', 'b'])
', '.join(words)
','.join([1])
'-'.join('abc')
','.join(d)
'a-b-c'.partition('-')
'a-b-c'.rpartition('-')
'abc'.partition('-')
'abc'.rpartition('-')
'test_x'.removeprefix('test_')
'x_test'.removesuffix('_test')
'5'.zfill(3)
'-5'.zfill(4)
'a'.ljust(3) ~ '|'
'a'.rjust(3, '*')
'a'.center(4, '*')
'123'.isdigit()
'12a'.isdigit()
'abc'.isalpha()
'ab1'.isalnum()
' '.isspace()
'Abc'.islower()
'ABC'.isupper()
'Hello World'.istitle()
'é'.isascii()
''.isalpha()
'½'.isnumeric()
'½'.isdigit()
d.keys()
d.keys()|list
d.values()|list
d.items()|list
{'a': 1}.items()
{'a': 1}.values()
d.get('a')
d.get('zz')
d.get('zz', 5)
d.get([])
void.items()|list
d|items|list
missing|items|list
n|items|list
{'a': 1}.copy()
list.index(3)
list.index(99)
list.count(1)
list.append(1)
list.pop()
d.update({})
d.pop('a')
d.setdefault('q', 1)
list.nope
list.nope()
s.nope()
s.upper
s.upper.x
range(3)
range(3)|list
range(1, 4)|list
range(0, 10, 3)|list
range(5, 0, -2)|list
range(0)|list
range(3)[1]
range(10, 0)|length
range(1, 2, 0)
range('a')
range(100001)
dict(a=1, b=2)
dict({'a': 1}, b=2)
dict([('a', 1)])
namespace(a=1).a
namespace(a=1).b
namespace({'x': 5}).x
list|tojson
d|tojson
mixed|tojson
s|tojson
uni|tojson
both|tojson
control|tojson
html|tojson
big|tojson
tiny|tojson
none|tojson
yes|tojson
{1: 'a', none: 1, true: 2, 2.5: 3}|tojson
{(1, 2): 1}|tojson
(1, 2)|tojson
{}|tojson
[]|tojson
d|tojson(indent=2)
[]|tojson(indent=2)
[[], {}, [1]]|tojson(indent=1)
list|tojson(indent=0)
d|tojson(sort_keys=true)
list|tojson(separators=(',', ':'))
d|tojson(separators=(',', ':'), indent=2)
uni|tojson(ensure_ascii=true)
missing|tojson
range(3)|tojson
d.items()|tojson
list|select|tojson
d|tojson(nope=1)
s|attr('upper')
d|attr('a')
d|attr('items')
missing|attr('x')
n|string + 'x'
none|string
list|list
s|list
d|list
n|list
'abc'|batch(2)|list
strftime_now('%Y-%m-%d')
strftime_now('%d %B %Y')
strftime_now('%H:%M:%S')
strftime_now('%A %a %b %j %y %I %p %%')
strftime_now('%-d/%-m %e')
strftime_now('')
raise_exception('boom')
raise_exception()
s.__class__
s.__class__.__mro__
''.__class__.__base__.__subclasses__()
d.__init__.__globals__
cycler('a', 'b').next()
joiner('|')()
loop
loop.index
self
lipsum
s is nosuchtest
s|nosuchfilter
s|upper|lower|title
[1, 2, 3,]
{'a': 1,}
f(1,)
d.nested['x'].y
people[0].city.name
people[-1]['name']|upper ~ '!'
(people|map(attribute='age')|list)[0]
people|map(attribute='age')|list|sum / people|length
[x for x in list]
lambda x: x
1 if
1 +
a.b.
(1
[1
{'a' 1}
'abc
1 1
a b
$
a ? b : c
!x
a && b
a | b
""".strip("\n").split("\n")

TEMPLATES = [
    "",
    "plain text",
    "two\nlines\n",
    "trailing\n\n",
    "crlf\r\nline\r\n",
    "a{{ n }}b",
    "a {{ n }} b",
    "a {{- n }} b",
    "a {{ n -}} b",
    "a\n {{- n -}} \nb",
    "{{ n }}\n{{ n }}\n",
    "{% if yes %}\nyes\n{% endif %}\nend",
    "  {% if yes %}\n  yes\n  {% endif %}\nend",
    "  {%+ if yes %}\n  yes\n  {%+ endif %}\nend",
    "x  {% if yes %}\nyes{% endif %}\n",
    "{% if yes +%}\nyes{% endif %}",
    "{% if yes -%}\n\n  yes  \n{%- endif %}\n!",
    "a {%- if yes %} b {% endif -%} c",
    "a\n\n{%- if yes %}b{% endif %}",
    "a {# comment #} b",
    "a\n  {# comment #}\nb",
    "a\n  {#- comment -#}\n  b",
    "a {#+ c +#}\nb",
    "{# multi\nline\n#}\nx",
    "{##}x{#-#}y",
    "{# {{ n }} {% if %} #}x",
    "{# open",
    "{% raw %}{{ n }} {% if %}{% endraw %}",
    "{% raw -%}\n  {{ n }}\n{%- endraw %} x",
    "  {% raw %}\n {{ n }}\n  {% endraw %}\nx",
    "{%- raw %} a {% endraw -%}  b",
    "{% raw %}open",
    "{{ '{{' }} {{ '}}' }} {{ '{%' }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}",
    "{{ {'a': {'b': 1}} }}",
    "{{ n }",
    "{{ n",
    "{% if %}",
    "{% if yes %}",
    "{% endif %}",
    "{% nosuch %}",
    "{% %}",
    "{{ }}",
    "{ { n } } { % % } #}",
    "%} }} #}",
    "{% if n > 5 %}big{% elif n > 2 %}mid{% else %}small{% endif %}",
    "{% if n > 50 %}big{% elif n > 2 %}mid{% else %}small{% endif %}",
    "{% if n > 50 %}big{% elif n > 20 %}mid{% else %}small{% endif %}",
    "{% if missing %}a{% else %}b{% endif %}",
    "{% if missing.x %}a{% endif %}",
    "{% if not missing %}a{% endif %}",
    "{% if nothing or void or empty or zero %}a{% else %}b{% endif %}",
    "{% for x in list %}{{ x }},{% endfor %}",
    "{% for x in list %}\n{{ x }}\n{% endfor %}\n",
    "{% for x in nothing %}a{% else %}none{% endfor %}",
    "{% for x in missing %}a{% else %}none{% endfor %}",
    "{% for x in list %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in n %}{% endfor %}",
    "{% for x in none %}{% endfor %}",
    "{% for x in list if x is odd %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %}",
    "{% for x in list if x > 100 %}a{% else %}none{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }};{% endfor %}",
    "{% for k, v in d %}{{ k }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% for c in uni %}[{{ c }}]{% endfor %}",
    "{% for x in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
    "{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "{% for x in list %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
    "{% for x in list %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}",
    "{% for x in list %}{{ loop.previtem.y }}{% endfor %}",
    "{% for x in list %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {% endfor %}",
    "{% for x in [1] %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}",
    "{% for x in [1, 2] %}{% for y in [3, 4] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in [1, 2] %}{% set outer = loop %}{% for y in [3, 4] %}{{ outer.index }}{{ loop.index }} "
    "{% endfor %}{% endfor %}",
    "{% for x in list %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in list %}{% if x == 3 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in list %}{% break %}{% else %}else{% endfor %}",
    "{% for x in [1, 2] %}{% for y in [1, 2, 3] %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} "
    "{% endfor %}{% endfor %}",
    "{% break %}",
    "{% for x in tree recursive %}{{ x.v }}{% if x.c %}({{ loop(x.c) }}){% endif %}{% endfor %}",
    "{% for x in tree recursive %}{{ loop.depth }}{{ x.v }}{{ loop(x.c) }}{% endfor %}",
    "{% for x in tree %}{{ loop(x.c) }}{% endfor %}",
    "{% for x in list %}{% endfor %}{{ x }}",
    "{% for x in list %}{% endfor %}{{ loop is defined }}",
    "{% set x = 1 %}{% for i in list %}{% set x = i %}{% endfor %}{{ x }}",
    "{% set x = 1 %}{% for i in list %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}",
    "{% set x = 1 %}{% if yes %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% if no %}{% set x = 2 %}{% endif %}{{ x is defined }}",
    "{% set ns = namespace(x=0) %}{% for i in list %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace() %}{% set ns.a = [1] %}{% set ns.a = ns.a + [2] %}{{ ns.a }}",
    "{% set ns = namespace(a=1) %}{{ ns['a'] }}{{ ns.b is defined }}",
    "{% set d.x = 1 %}",
    "{% set q.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a, b = [1] %}",
    "{% set (a, b) = (1, 2) %}{{ a }}{{ b }}",
    "{% set a = 1, 2 %}{{ a }}",
    "{% set a = b = 1 %}",
    "{% set true = 1 %}",
    "{% set n = 100 %}{{ n }}",
    "{% set x %}block {{ n }}{% endset %}[{{ x }}]",
    "{% set x | upper | trim %}  block {{ n }} {% endset %}[{{ x }}]",
    "{% set x %}{% set y = 1 %}{% endset %}{{ y is defined }}",
    "{% set x %}{% endset %}{{ x is string }}{{ x|length }}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}",
    "{% filter upper %}abc {{ n }}{% endfilter %}",
    "{% filter replace('a', 'b')|upper %}aaa{% endfilter %}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(a=5, b=6) }} {{ m(b=1, a=2) }}",
    "{% macro m(a) %}[{{ a }}]{{ a is defined }}{% endmacro %}{{ m() }}",
    "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}",
    "{% macro m(a, b=a + 1) %}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro m(a=1, b) %}{% endmacro %}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}",
    "{% macro m(x) %}{{ x }}{% if x > 0 %}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}",
    "{{ m() }}{% macro m() %}{% endmacro %}",
    "{% macro m() %}{{ later }}{% endmacro %}{% set later = 5 %}{{ m() }}",
    "{% macro m() %}{% set inner = 1 %}{% endmacro %}{{ m() }}{{ inner is defined }}",
    "{% macro m() %}{{ n }}{{ s }}{% endmacro %}{{ m() }}",
    "{% macro m() %} x {% endmacro %}[{{ m()|trim }}]",
    "{% macro m(a, b) %}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.caller }}{{ m.catch_kwargs }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{{ m.caller }}",
    "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body{% endcall %}",
    "{% macro m() %}<{{ caller(1, 2) }}>{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}",
    "{% macro m(x) %}{{ x }}{{ caller is defined }}{% endmacro %}{{ m(1) }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
    "{% macro m() %}x{% endmacro %}{% call m() %}body{% endcall %}",
    "{% macro m(l) %}{% for x in l %}{{ caller(x) }},{% endfor %}{% endmacro %}"
    "{% call(x) m(list) %}{{ x * n }}{% endcall %}",
    "{% for x in [1, 2] %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*[1]) }}{{ m(**{'a': 2}) }}",
    "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(1, *[2]) }}{{ m(*[1], **{'b': 2}) }}",
    "{{ '{}{}'.format(*[1, 2]) }}{{ dict(**{'a': 1}) }}",
    "{% generation %}text {{ n }}{% endgeneration %}",
    "{% generation %}{% set g = 1 %}{% endgeneration %}{{ g is defined }}",
    "a\n  {% generation %}\n  b\n  {% endgeneration %}\nc",
    "{% set x = list|select('odd') %}{{ x|list }}{{ x|list }}",
    "{% set x = list|map('string') %}{% for i in x %}{{ i }}{% endfor %}{% for i in x %}{{ i }}{% endfor %}",
    "{% if no %}{{ s|nosuchfilter }}{% endif %}ok",
    "{% if yes %}{{ s|nosuchfilter }}{% endif %}ok",
    "{% if no %}{{ s is nosuchtest }}{% endif %}ok",
    "{{ s|nosuchfilter if no else 'fine' }}",
    "{% if no %}{% for x in list %}{{ x|nosuchfilter }}{% endfor %}{% endif %}",
    "{% for x in list %}{% if no %}{{ x|nosuchfilter }}{% endif %}{% endfor %}ok",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}",
    "{% set j = joiner(', ') %}{% for x in list %}{{ j() }}{{ x }}{% endfor %}",
    "{% for x in list -%}\n  {{ x }}\n{%- endfor %}",
    "{%- for x in list %}\n  {{- x }}\n{%- endfor -%}\n",
    "{% set a = 'x' %}{{ a }}\n{% set a = 'y' -%}\n{{ a }}",
    "{% if yes: %}colon{% endif %}",
    "{% for x in list: %}{{ x }}{% endfor %}",
    "{% print(n) %}",
    "{% print n, s %}",
    "{% for item in people %}{{ item.name }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for item in people %}{{ item['name'] }}: {{ item.tags|length if item.tags is defined else '-' }}\n{% endfor %}",
    "{{ d.nested.x['y'][0:2]|upper }}",
    "{{ people[0].name.upper().lower()|title }}",
    "{{ s.split(', ')[-1].strip('d')|length }}",
    "{%- set ns = namespace(last=none) -%}{%- for m in people -%}{%- if m.age == 31 -%}{%- set ns.last = loop.index0 "
    "-%}{%- endif -%}{%- endfor -%}{{ ns.last }}",
    "{%- for m in people[::-1] -%}{{ m.name }}{%- endfor -%}",
    "{% set x = 5 if no %}{{ x is defined }}{{ x }}",
    "{% set x = missing %}{{ x is defined }}",
    "{{ raise_exception('no ' ~ s) }}",
    "{% if n is defined and n is not none and n > 3 %}ok{% endif %}",
    "{{ [1, 2, 3][missing] }}",
    "{{ d[missing] is defined }}",
    "{{ 'a' if missing is defined else 'b' }}",
    "{{ loop }}{% for x in [1] %}{{ loop is defined }}{% endfor %}",
    "{% for loop in [1] %}{% endfor %}",
    "{% set loop = 5 %}{{ loop }}",
    "{% for x in list|batch(2) %}{{ x|join('+') }};{% endfor %}",
    "{% for g in range(3) %}{{ g }}{% endfor %}",
    "{% for a in [[1, 2], [3, 4]] %}{% for b in a %}{{ b }}{% endfor %}|{% endfor %}",
    "\ufeffbom",
]

REFUSED = [
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% from 'x' import y %}",
    "{% extends 'x' %}",
    "{% do list.append(1) %}",
]


class Generation(Extension):
    """The tag of transformers: marks what the assistant writes; its body renders as it stands."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _body(self, context, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


# Where Python prints an address, or we choose to differ.
SKIPPED = {
    "d.items", "d.items is string", "s.upper", "d|attr('items')", "s|attr('upper')", "self", "lipsum", "loop.index",
    "s.__class__.__mro__", "\ufeffbom",
}


def main():
    env = environment()
    records = []
    sources = ["{{ " + line + " }}" for line in EXPRESSIONS if line not in SKIPPED]
    sources += [t for t in TEMPLATES if t not in SKIPPED] + REFUSED
    for source in sources:
        record = {"template": source}
        try:
            record["text"] = env.from_string(source).render(**VARIABLES)
            assert " at 0x" not in record["text"] and "<function" not in record["text"], source
        except AssertionError as error:
            print("left out:", error)
            continue
        except Exception as error:  # noqa: BLE001 - whatever Jinja2 or Python says is the answer
            record["error"] = f"{type(error).__name__}: {error}"
        records.append(record)
    out = {"now": NOW.isoformat(), "variables": VARIABLES, "records": records}
    with open("template_goldens.json", "w", encoding="utf-8") as file:
        json.dump(out, file, ensure_ascii=False, indent=1)
        file.write("\n")
    print(len(records), "records,", sum("error" in r for r in records), "of them errors")


if __name__ == "__main__":
    main()
