import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { continueUtf8 } from './utf8.ts'

test('text is accepted however its bytes are cut, and leaves nothing open', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(), (text, cut) => {
      const bytes = Buffer.from(text.toWellFormed())
      const place = cut % (bytes.length + 1)
      const open = continueUtf8(new Uint8Array(), bytes.subarray(0, place))
      assert.ok(open !== null)
      assert.deepEqual(continueUtf8(open, bytes.subarray(place)), new Uint8Array())
    }),
  )
})

test('bytes are accepted just where a strict decoder takes them for the beginning of a text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6 }), (bytes) => {
      const open = continueUtf8(new Uint8Array(), bytes)
      const decode = () => new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
      if (open === null) assert.throws(decode)
      else assert.doesNotThrow(decode)
    }),
    { numRuns: 2_000 },
  )
})

test('a character spelled longer than needed is none', () => {
  assert.equal(continueUtf8(new Uint8Array(), Uint8Array.of(0xf0, 0x86, 0x97, 0xa5)), null)
})
