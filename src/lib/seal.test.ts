import { equal, notEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { seal, unseal } from './seal.ts'

const key = new Uint8Array(32).fill(7)

test('what is sealed is read again with the same key and for the same place', () => {
  const sealed = seal(key, 'row 1', 'a secret, and more: ä')
  equal(unseal(key, 'row 1', sealed), 'a secret, and more: ä')
  equal(sealed.includes('secret'), false)
  notEqual(sealed, seal(key, 'row 1', 'a secret, and more: ä'))
})

test('what is sealed is not opened with another key, for another place or after a change', () => {
  const sealed = seal(key, 'row 1', 'text')
  throws(() => unseal(new Uint8Array(32), 'row 1', sealed))
  throws(() => unseal(key, 'row 2', sealed))
  const bytes = Buffer.from(sealed, 'base64')
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
    throws(() => unseal(key, 'row 1', changed.toString('base64')), `byte ${index}`)
  }
  throws(() => unseal(key, 'row 1', ''))
})
