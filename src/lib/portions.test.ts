import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import v8 from 'node:v8'
import fc from 'fast-check'
import { Assembly, toPortions } from './portions.ts'

function passOn(value: unknown): { readonly value: unknown; readonly portions: number } {
  const assembly = new Assembly()
  let portions = 0
  for (const portion of toPortions(value)) {
    portions += 1
    assembly.add(v8.deserialize(v8.serialize(portion)))
  }
  return { value: assembly.value, portions }
}

test('any value comes out as it went in', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      // Some hundred times the same is larger than a portion.
      const many = Array.from({ length: 300 }, () => value)
      deepEqual(passOn(many).value, many)
      deepEqual(passOn(value).value, value)
    }),
    { numRuns: 50 },
  )
})

test('long texts, long lists and large objects are in many portions, and whole again', () => {
  const value = {
    text: 'wörd'.repeat(1_000_000),
    list: Array.from({ length: 50_000 }, (_, index) => ({ role: 'user', content: [{ text: String(index) }] })),
    object: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])),
    bytes: new Uint8Array(100_000).fill(7),
    nothing: undefined,
    empty: '',
  }
  const passed = passOn(value)
  deepEqual(passed.value, value)
  ok(passed.portions > 100, `There are ${passed.portions} portions.`)
})

test('a small value is one portion', () => {
  equal(passOn({ a: [1, 2, { b: 'c' }] }).portions, 1)
})

test('a key named __proto__ stays a key', () => {
  const value = JSON.parse(`{"__proto__":{"a":[${'1,'.repeat(3_000)}1]},"b":1}`) as object
  const passed = passOn(value).value as object
  deepEqual(Object.keys(passed), ['__proto__', 'b'])
  equal(Object.getPrototypeOf(passed), Object.prototype)
})
