import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileJinja, JinjaFault } from './interpreter.ts'

const render = (source: string, variables: Readonly<Record<string, unknown>> = {}) =>
  compileJinja(source).render(variables)

test('tuples are unpacked in a loop', () => {
  assert.equal(render('{% for a, b in [(1, 2), (3, 4)] %}{{ a }}-{{ b }};{% endfor %}'), '1-2;3-4;')
})

test('lists and mappings have the methods that change them', () => {
  assert.equal(render('{% set l = [] %}{% do l.append(1) %}{% set x = l.append(2) %}{{ l | join("+") }}'), '1+2')
  assert.equal(render('{% set l = [1, 2] %}{% set x = l.pop(0) %}{{ x }}{{ l }}'), '1[2]')
  assert.equal(
    render('{% set d = {"a": 1} %}{% set x = d.update({"b": 2}) %}{{ d["b"] }}{{ d.pop("a") }}{{ d }}'),
    '21{"b": 2}',
  )
})

test('a mapping may have numbers as keys, and is sorted by them', () => {
  assert.equal(render('{% for k, v in {10: "b", 9: "a"} | dictsort %}{{ k + 1 }}{{ v }}{% endfor %}'), '10a11b')
  assert.equal(render('{{ {512: "x"}[512] }}'), 'x')
})

test('filters work on every type that Python has them for', () => {
  assert.equal(render('{{ [3, 1] | min }}{{ none | string }}{{ ["a"] | map("upper") | join }}'), '1NoneA')
  assert.equal(render('{{ \'{"a": [1]}\' | from_json | tojson }}'), '{"a": [1]}')
  assert.equal(render('{{ [{"k": 1}, {"k": 2}] | selectattr("k", "eq", 2) | list | tojson }}'), '[{"k": 2}]')
})

test('a text of as many letters as a body may have can be asked what it consists of', () => {
  const all = '{{ text.isalpha() }} {{ text.isalnum() }} {{ text.isdigit() }} {{ text | wordcount }}'
  assert.equal(render(all, { text: '漢'.repeat(10_000_000) }), 'true true false 1')
  assert.equal(render(all, { text: '' }), 'false false false 0')
  assert.equal(render(all, { text: 'a1' }), 'false true false 1')
})

test('a list is mapped, selected, copied and extended that is longer than the arguments of a call', () => {
  const list = Array.from({ length: 190_000 }, (_, index) => `v${index}`)
  const source =
    '{{ x | map("upper") | list | length }} {{ x | select("string") | list | length }} {{ x.copy() | length }} ' +
    '{{ d | dictsort | length }} {% set y = x.copy() %}{% set z = y.extend(y) %}{{ y | length }}'
  const variables = { x: list, d: Object.fromEntries(list.map((name) => [name, 1])) }
  assert.equal(render(source, variables), '190000 190000 190000 190000 380000')
})

test('operators are those of Python', () => {
  assert.equal(render('{{ "%s of %d" % ("a", 2) }}{{ "ab" * 2 }}{{ 1 == "1" }}{{ "a" < "b" }}'), 'a of 2ababfalsetrue')
  assert.equal(render('{{ none ~ "x" }}{{ [1] == [1] }}{{ none in [none] }}{{ 1 is in [1] }}'), 'Nonextruetruetrue')
})

test('a loop over what is not there runs no time', () => {
  assert.equal(render('{% for m in nothing %}x{% else %}none{% endfor %}'), 'none')
})

test('the date is written as the template asks', () => {
  assert.match(render('{{ strftime_now("%d %b %Y") }}'), /^\d\d [A-Z][a-z]{2} \d{4}$/u)
})

test('a fault names the line in which it is', () => {
  const lineOf = (source: string) => {
    try {
      render(source)
    } catch (error) {
      return error instanceof JinjaFault ? error.line : undefined
    }
    return undefined
  }
  assert.equal(lineOf('one\n{{ two }}\n{{ raise_exception("no such role: " ~ role) }}'), 3)
  assert.equal(lineOf('{% set a = 1 %}\n{% if a %}\n\n{{ a.missing("x") }}{% endif %}'), 4)
  assert.equal(lineOf('{{ nothing | no_such_filter }}'), 1)
})

test('names that a template reads and does not always set are told apart from those that it sets and from filters, tests and members', () => {
  const source =
    "{% set head = given ~ other.member | trim('x' ~ cut) %}{% for m in messages if m is string %}{{ m[key] }}{% endfor %}" +
    '{% macro show(a, b=1) %}{{ a ~ b ~ inside }}{% endmacro %}{{ show(1, b=argument) }}{{ head or range(2) }}' +
    '{% if head %}{% set maybe = 1 %}{% endif %}{{ maybe }}'
  assert.deepEqual(compileJinja(source).freeNames.toSorted(), [
    'argument',
    'cut',
    'given',
    'inside',
    'key',
    'maybe',
    'messages',
    'other',
  ])
})

test('a member of a mapping can be given a value, as llama.cpp lets a template do with a message', () => {
  const source =
    '{% for m in messages %}{% if m.calls is not defined %}{% set m.calls = [1, 2] %}{% endif %}{{ m.calls | length }}{% endfor %}'
  const messages = [{ role: 'user' }, { role: 'user', calls: [1] }]
  assert.equal(render(source, { messages }), '21')
  assert.deepEqual(messages, [{ role: 'user' }, { role: 'user', calls: [1] }])
})

test('raw text is written as it stands, quotes and braces too', () => {
  assert.equal(render('a {% raw %}{{ b }} "c" \\n {% d %}{% endraw %} e'), 'a {{ b }} "c" \\n {% d %} e')
  assert.equal(render('a {%- raw -%} b {%- endraw -%} c'), 'abc')
  assert.equal(render('{% if x is in [1] %}{% raw %}is in{% endraw %}{% endif %}', { x: 1 }), 'is in')
})

test('a template whose lines end in a carriage return renders as one without', () => {
  const source = '{% if x %}\na\n{% endif %}\nb {{ "c" }}\n'
  assert.equal(render(source.replaceAll('\n', '\r\n'), { x: true }), render(source, { x: true }))
})

test('a block may name values for what stands in it, and a sign may keep the white space beside a tag', () => {
  assert.equal(render('{% with a = 1, b = [2, 3] %}{{ a }}{{ b | last }}{% endwith %}!'), '13!')
  assert.equal(render('{%+ if true %}a{% endif +%}{{+ "b" }}'), 'ab')
  assert.equal(render('{{ "%s of %d" | format("a", 2) }}'), 'a of 2')
})
