import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { SchemaFault } from '../../src/grammar/schema-fault.ts'
import { toGrammar } from './compile.ts'
import { createDeriver, createRandom } from './derive.ts'
import { createNativeParser } from './native-grammar.ts'
import { type Grammar, parseGbnf, type Term } from './parse-gbnf.ts'
import { randomSchema, withDefinitions } from './random-schema.ts'
import { validate } from './validate.ts'

const derivationsEach = 8
/** An undefined field never comes out of JSON. */
const asSent = (schema: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(schema)) as JsonSchema

test('whatever a grammar derives is JSON, valid for its schema, and accepted by the native parser', async () => {
  const parseNative = await createNativeParser()
  const random = createRandom(20_261_121)
  let derivations = 0
  let faults = 0
  while (derivations < 3_000) {
    const schema = asSent(withDefinitions(random, randomSchema(random)))
    let text: string
    try {
      text = toGrammar(schema)
    } catch (error) {
      assert.ok(error instanceof SchemaFault, `${String(error)} in ${JSON.stringify(schema)}`)
      faults += 1
      continue
    }
    const grammar = parseGbnf(text)
    checkShape(grammar)
    const native = derivations % 5 === 0 ? parseNative(text) : null
    const derive = createDeriver(grammar, random)
    for (let round = 0; round < derivationsEach; round++) {
      const answer = derive()
      assert.equal(faultIn(answer, schema), null, `${answer}\nfor ${JSON.stringify(schema)}`)
      assert.ok(native?.accepts(answer) !== false, `the native parser refuses ${answer}`)
      derivations += 1
    }
  }
  assert.ok(faults < derivations / derivationsEach, `${faults} of the random schemas are refused`)
})

function faultIn(answer: string, schema: JsonSchema): string | null {
  try {
    return validate(schema, JSON.parse(answer))
  } catch (error) {
    return String(error)
  }
}

/** What the native parser takes badly: deep groups, long repetitions, and rules that begin with themselves. */
function checkShape(grammar: Grammar): void {
  for (const [name, alternatives] of grammar) {
    for (const sequence of alternatives) for (const term of sequence) checkTerm(term, 0)
    assert.ok(!beginnings(grammar, name).has(name), `${name} begins with itself`)
  }
}

function checkTerm(term: Term, depth: number): void {
  assert.ok(depth <= 4)
  if (term.kind === 'repeat') {
    assert.ok(term.min <= 1_000 && (term.max <= 1_000 || term.max === Infinity))
    checkTerm(term.term, depth)
  }
  if (term.kind === 'group') for (const inner of term.alternatives.flat()) checkTerm(inner, depth + 1)
}

/** The rules that may stand first in a text of a rule. None of the grammars has a rule for the empty text. */
function beginnings(grammar: Grammar, name: string): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (term: Term | undefined, rest: readonly Term[]): void => {
    if (term === undefined) return
    if (term.kind === 'rule') found.add(term.name)
    if (term.kind === 'group') for (const [first, ...others] of term.alternatives) visit(first, others)
    if (term.kind === 'repeat') {
      visit(term.term, [])
      if (term.min === 0) visit(rest[0], rest.slice(1))
    }
  }
  const start = (rule: string): void => {
    for (const [first, ...rest] of grammar.get(rule) ?? []) visit(first, rest)
  }
  start(name)
  for (const rule of found) start(rule)
  return found
}
