import { equal, match, notEqual, throws } from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { checkPassword, hashPassword, isOutdated, isPassword } from './passwords.ts'

const password = 'correct horse battery staple'

test('a password is known again by its argon2id hash, and no other is', async () => {
  const phc = await hashPassword(password)
  match(phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  equal(await isPassword(phc, password), true)
  equal(await isPassword(phc, `${password} `), false)
  equal(await isPassword(null, password), false)
  notEqual(await hashPassword(password), phc, 'Each has a salt of its own.')
})

test('a hash with parameters of earlier times still counts, and is told to be outdated', async () => {
  const salt = Buffer.from('0123456789abcdef')
  const cost = { memory: 8_192, passes: 1, parallelism: 1, tagLength: 32 }
  const tag = argon2Sync('argon2id', { message: password, nonce: salt, ...cost })
  const [saltText, tagText] = [salt, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  const old = `$argon2id$v=19$m=8192,t=1,p=1$${saltText}$${tagText}`
  equal(await isPassword(old, password), true)
  equal(isOutdated(old), true)
  equal(isOutdated(await hashPassword(password)), false)
})

test('a password that is composed of other code points is the same', async () => {
  equal(await isPassword(await hashPassword('Grüße an alle Leute'), 'Gru\u0308ße an alle Leute'), true)
})

test('many passwords at once are all checked', async () => {
  const phc = await hashPassword(password)
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, index) => isPassword(phc, index === 7 ? password : 'x')),
  )
  equal(results.filter(Boolean).length, 1)
})

test('a password that is short or endless is refused', () => {
  throws(() => checkPassword('elf letters'), { code: 'invalid-request' })
  throws(() => checkPassword('x'.repeat(1_001)), { code: 'invalid-request' })
  equal(checkPassword('zwölf Zeichen'), 'zwölf Zeichen')
})
