import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWellFormed } from '../http/bodies/decode-body.ts'

test('lone surrogates are replaced everywhere in a body and nothing else is', () => {
  const value: unknown = JSON.parse('{"a\\ud800":["x\\udc00y","\\ud83d\\ude00",1,null,true]}')
  assert.deepEqual(makeWellFormed(value), { 'a\ufffd': ['x\ufffdy', '😀', 1, null, true] })
})

test('a key named __proto__ stays a key', () => {
  const made = makeWellFormed(JSON.parse('{"__proto__":{"polluted":"yes"}}'))
  assert.deepEqual(Object.keys(made as object), ['__proto__'])
  assert.equal(({} as { polluted?: string }).polluted, undefined)
  assert.equal(Object.getPrototypeOf(made), Object.prototype)
})
