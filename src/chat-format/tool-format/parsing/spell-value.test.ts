import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../../core/generation.ts'
import { spellValue } from './spell-value.ts'

const nullable = { type: ['string', 'null'] }
const either = { anyOf: [{ type: 'string' }, { type: 'null' }] }

const cases: readonly (readonly [text: string, schema: JsonSchema | null, value: unknown])[] = [
  // Where more than strings are allowed, a grammar has strings written as JSON.
  ['"a"', nullable, 'a'],
  ['"a"', either, 'a'],
  ['"say \\"a\\""', {}, 'say "a"'],
  ['null', nullable, null],
  ['a', nullable, 'a'],
  ['"a"', null, '"a"'],
  ['12', null, 12],
  ['12', { type: 'string' }, '12'],
  ['12', { type: 'number' }, 12],
  ['True', { type: 'boolean' }, true],
  ['{"a": 1}', either, { a: 1 }],
]

for (const [text, schema, value] of cases) {
  test(`${text} under ${JSON.stringify(schema)} is read as ${JSON.stringify(value)}`, () => {
    assert.deepEqual(JSON.parse(spellValue(text, schema)), value)
  })
}
