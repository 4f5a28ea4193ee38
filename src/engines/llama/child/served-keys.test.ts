import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ServedKeys } from './served-keys.ts'

test('what a key was served counts half after three seconds, and is forgotten in the end', () => {
  const served = new ServedKeys()
  served.add('a', 1_000, 0)
  equal(served.of('a', 0), 1_000)
  equal(served.of('a', 3_000), 500)
  ok(served.of('a', 60_000) < 1)
  equal(served.of('b', 0), 0)
})

test('a key that was served of late is expected again, and one that is there is not', () => {
  const served = new ServedKeys()
  served.add('a', 1_000, 0)
  equal(served.expectsOthers(new Set(['a']), 100), false)
  equal(served.expectsOthers(new Set(['b']), 100), true)
  equal(served.expectsOthers(new Set(['b']), 120_000), false)
})

test('many keys that came once take no memory for ever', () => {
  const served = new ServedKeys()
  for (let number = 0; number < 100_000; number++) served.add(`key_${number}`, 10, number * 100)
  ok(served.size <= 1_001, String(served.size))
})
