import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey, isWellFormedKey, maskKey } from './key-format.ts'

test('a new key has its shape and passes its own check', () => {
  const key = createKey()
  assert.match(key, /^sk-ody-[0-9A-Za-z]{38}$/)
  assert.ok(isWellFormedKey(key))
  assert.notEqual(createKey(), key)
})

test('a typing error anywhere is noticed without the database', () => {
  const key = createKey()
  for (let index = 0; index < key.length; index++) {
    const wrong = key[index] === 'A' ? 'B' : 'A'
    assert.equal(isWellFormedKey(key.slice(0, index) + wrong + key.slice(index + 1)), false, `at ${index}`)
  }
  for (const other of ['', 'dummy', 'sk-ody-', `${key}x`, ` ${key}`, key.slice(0, -1), key.toLowerCase()]) {
    assert.equal(isWellFormedKey(other), false)
  }
})

test('a mask shows too little to use', () => {
  assert.equal(maskKey('sk-ant-0123456789abcdef'), 'sk-an***def')
  assert.equal(maskKey('secret'), '***')
})
