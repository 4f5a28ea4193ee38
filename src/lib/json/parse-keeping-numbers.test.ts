import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseKeepingNumbers } from './parse-keeping-numbers.ts'

const texts = [
  '{"id":123456789012345677,"ids":[-98765432109876543210,1]}',
  '{"a":1.0,"b":1.50,"c":1e400,"d":2E5,"e":-0,"f":0.1234567890123456789,"g":"1e400 and 123456789012345677"}',
  '{"__proto__":123456789012345677,"plain":{"n":5,"t":"x","l":[true,null]}}',
  '123456789012345677',
  '[0.0000001,0.30000000000000004,100]',
]
for (const text of texts) {
  test(`a number is written again as it stood in ${text}`, () => {
    assert.equal(JSON.stringify(parseKeepingNumbers(text)), text)
  })
}

test('a text that is no JSON is refused with long numbers and without', () => {
  for (const text of ['{"id":1234567890123456789', '{"id":1', '{"id":01234567890123456789}'])
    assert.throws(() => parseKeepingNumbers(text), SyntaxError, text)
})
