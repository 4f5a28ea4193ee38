import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomId } from './random-id.ts'

test('a random id is as long as asked, of letters and digits, and never the same', () => {
  const ids = Array.from({ length: 1_000 }, () => randomId(20))
  assert.ok(ids.every((id) => /^[0-9A-Za-z]{20}$/.test(id)))
  assert.equal(new Set(ids).size, 1_000)
})
