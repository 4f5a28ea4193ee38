import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanJson } from './json-scan.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('the scan of JSON finds the depth of any value, whatever its strings hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: fc.constantFrom('"', '\\', '{', '[', 'a', '😀') }), (value) => {
      const bytes = Buffer.from(JSON.stringify(value))
      const depth = depthOf(value)
      assert.equal(scanJson(bytes, { depthMax: depth, tokensMax: Infinity }), null)
      if (depth > 0) assert.equal(scanJson(bytes, { depthMax: depth - 1, tokensMax: Infinity }), 'depth')
    }),
  )
})

test('the scan of JSON counts brackets, commas and colons', () => {
  const bytes = Buffer.from('{"a,b:[":[1,2,3]}')
  assert.equal(scanJson(bytes, { depthMax: 9, tokensMax: 5 }), null)
  assert.equal(scanJson(bytes, { depthMax: 9, tokensMax: 4 }), 'tokens')
})

test('the scan of JSON gives up on what would take a parser long, and does not hang on a string without an end', () => {
  assert.equal(scanJson(Buffer.alloc(4_000_000, '['), { depthMax: 64, tokensMax: 1e9 }), 'depth')
  assert.equal(scanJson(Buffer.from(`"${'\\"'.repeat(100_000)}`), { depthMax: 64, tokensMax: 1e9 }), null)
})
