import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createTotpSecret, findTotpStep, totpCode, totpUri } from './totp.ts'

/** RFC 6238, appendix B: the secret is the ASCII text 12345678901234567890. Of its eight digits the last six stay. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const vectors: readonly (readonly [number, string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]

for (const [seconds, code] of vectors) {
  test(`a code at ${seconds} s is the one of RFC 6238`, () => equal(totpCode(secret, Math.floor(seconds / 30)), code))
}

test('a code counts in its own step and the ones beside it, and no further', () => {
  const nowMs = 1_111_111_111_000
  const step = Math.floor(nowMs / 30_000)
  for (const [distance, expected] of [
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ] as const) {
    equal(findTotpStep(secret, totpCode(secret, step + distance), { nowMs, lastStep: 0 }), expected, String(distance))
  }
})

test('a code that was used, or one before it, counts no more', () => {
  const nowMs = 1_111_111_111_000
  const step = Math.floor(nowMs / 30_000)
  equal(findTotpStep(secret, totpCode(secret, step), { nowMs, lastStep: step }), null)
  equal(findTotpStep(secret, totpCode(secret, step - 1), { nowMs, lastStep: step }), null)
  equal(findTotpStep(secret, totpCode(secret, step + 1), { nowMs, lastStep: step }), step + 1)
})

test('a new secret has 160 bits, and its address names whose it is', () => {
  const made = createTotpSecret()
  match(made, /^[A-Z2-7]{32}$/)
  equal(
    totpUri(made, { issuer: 'Odyssey', account: 'ann@example.org' }),
    `otpauth://totp/Odyssey:ann%40example.org?secret=${made}&issuer=Odyssey`,
  )
})
