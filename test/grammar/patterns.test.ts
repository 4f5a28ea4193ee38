import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toGrammar } from './compile.ts'
import { createDeriver, createRandom, type Random } from './derive.ts'
import { createNativeParser } from './native-grammar.ts'
import { createAlphabet } from '../../src/grammar/patterns/alphabet.ts'
import { determinize } from '../../src/grammar/patterns/automaton.ts'
import { type CodePointSet, codePointSet, complement, everything } from '../../src/grammar/patterns/code-points.ts'
import { excludingAutomaton, excludingNfa } from '../../src/grammar/patterns/name-trie.ts'
import { parseGbnf } from './parse-gbnf.ts'

const parseNative = await createNativeParser()
const alphabet = ['a', 'b', 'c', '-', '.', '1', '"', '\\', ' ', '\n', '\t', '\u0001', 'é', '😀', '\u2028', '_']

const written = [
  '',
  '^$',
  '^a|b$',
  '^(?:^a|b$)',
  'a^b|c',
  '^(a|b)*c$',
  '^[^a-c]$',
  '^[-a.]+$',
  '^[\\w-]+$',
  '^[\\]\\\\\\-]$',
  '^.$',
  '^[\\s\\S]{2}$',
  '^\\D\\W\\S$',
  '^\\x61\\u0062\\u{1F600}$',
  '^(?<name>a)(?:b)?$',
  '^a*?b+?c??$',
  '^a{2}b{1,}c{0,2}$',
  '^(a?b?){3}$',
  '^((a*)*)*$',
  '^(|a)+$',
  '(a|ab)(c|bcd)',
  '^(?=.*1)(?!.*b)[a-c1]+$',
  '^\\n|\\t\\u0001$',
  '^\\.\\*\\/\\"$'.replace('\\"', '"'),
  '[]',
  '^[^]$',
  'a$b',
]

test('a pattern matches the texts that it matches as an ECMAScript expression', () => {
  const random = createRandom(3)
  const made = Array.from({ length: 120 }, () => randomPattern(random, 2))
  for (const pattern of [...written, ...made]) checkPattern(pattern, random)
})

function checkPattern(pattern: string, random: Random): void {
  const expression = new RegExp(pattern, 'u')
  let text: string
  try {
    text = toGrammar({ type: 'string', pattern })
  } catch (error) {
    if (String(error).includes('too complex')) return
    const texts = Array.from({ length: 200 }, () => randomText(random))
    assert.match(String(error), /no text can satisfy/, pattern)
    assert.ok(!texts.some((one) => expression.test(one)), pattern)
    return
  }
  const derive = createDeriver(parseGbnf(text), random)
  for (let round = 0; round < 15; round++) {
    const answer = derive()
    // The platform's expressions may take exponential time for a long text.
    if (answer.length > 14) continue
    assert.ok(expression.test(String(JSON.parse(answer))), `${pattern} derives ${answer}`)
  }
  const grammar = parseNative(text)
  for (let round = 0; round < 40; round++) {
    const candidate = randomText(random)
    assert.equal(
      grammar.accepts(JSON.stringify(candidate)),
      expression.test(candidate),
      `${pattern} on ${JSON.stringify(candidate)}`,
    )
  }
}

function randomText(random: Random): string {
  return Array.from({ length: random(6) }, () => alphabet[random(random(2) === 0 ? 3 : alphabet.length)]).join('')
}

function randomPattern(random: Random, depth: number): string {
  const body = Array.from({ length: 1 + random(3) }, () => randomTerm(random, depth)).join('')
  return `${random(2) === 0 ? '^' : ''}${body}${random(2) === 0 ? '$' : ''}`
}

function randomTerm(random: Random, depth: number): string {
  const quantifier = ['', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}'][random(9)]!
  const atom = ['a', 'b', '.', '[ab]', '[^b]', '\\w', '\\s', '"', '\\\\', 'é'][random(10)]!
  if (depth === 0 || random(3) > 0) return atom + quantifier
  const choices = Array.from(
    { length: 1 + random(3) },
    () => randomTerm(random, depth - 1) + randomTerm(random, depth - 1),
  )
  return `(?:${choices.join('|')})${quantifier}`
}

test('names are excluded by a trie as by the automaton that is made of it', () => {
  const random = createRandom(7)
  const letters = [...alphabet, '\ud800']
  const anyLength = { min: 0, max: Infinity }
  const name = () => Array.from({ length: random(5) }, () => letters[random(17)]).join('')
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 1 + random(12) }, name)
    const made = excludingAutomaton(names, () => {})
    assert.deepEqual(
      made,
      determinize([excludingNfa(names, () => {})], anyLength, () => {}),
      JSON.stringify(names),
    )
  }
  const many = Array.from({ length: 900 }, (_, index) => `name-${index * 7919}`)
  assert.deepEqual(
    excludingAutomaton(many, () => {}),
    determinize([excludingNfa(many, () => {})], anyLength, () => {}),
  )
})

test('an alphabet cuts the code points into classes that no set holds a part of', () => {
  const random = createRandom(11)
  const points = [0x09, 0x20, 0x41, 0x5a, 0x61, 0x7a, 0xd7ff, 0xe000, 0x10ffff]
  const range = (): [number, number] => {
    const [left, right] = [points[random(points.length)]!, points[random(points.length)]!]
    return left < right ? [left, right] : [right, left]
  }
  for (let round = 0; round < 300; round++) {
    const sets = Array.from({ length: 1 + random(6) }, () =>
      random(5) === 0 ? everything : codePointSet(Array.from({ length: random(4) }, range)),
    )
    const cut = createAlphabet([[null], sets], () => {})
    assert.deepEqual(cut.classes[0], [null])
    for (const [place, set] of sets.entries()) {
      const classes = cut.classes[1]?.[place] ?? null
      const text = codePointSet(everything.flatMap(([first, last]) => within(set, first, last)))
      const joined = classes === null ? everything : codePointSet(cut.of(classes))
      assert.deepEqual(joined, text, JSON.stringify(sets))
      if (classes !== null) assert.deepEqual(cut.without(classes), complement(text), JSON.stringify(sets))
    }
  }
})

function within(set: CodePointSet, from: number, to: number): [number, number][] {
  return set.flatMap(([first, last]): [number, number][] =>
    Math.max(first, from) <= Math.min(last, to) ? [[Math.max(first, from), Math.min(last, to)]] : [],
  )
}

test('a pattern that many objects name their properties by is made once', () => {
  const part = (type: string) => ({ type: 'object', patternProperties: { '^[a-f]{3}-[0-9]{12}$': { type } } })
  const properties = Object.fromEntries(['string', 'boolean', 'integer'].map((type) => [type, part(type)]))
  const rules = toGrammar({ type: 'object', properties }).split('\n')
  assert.equal(rules.filter((rule) => rule.includes('[a-f] [a-f] [a-f] "-"')).length, 1)
})
