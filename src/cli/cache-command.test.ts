import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordedUsage } from '../billing/ledger/read-ledger.ts'
import { zeroUsage, type CacheReport } from '../core/generation.ts'
import { explainCache } from './cache-command.ts'

function row(
  read: number,
  computed: number,
  cache: Omit<CacheReport, 'reusedTokens'> | null,
  written = 0,
): RecordedUsage {
  const usage = { ...zeroUsage, inputCacheRead: read, inputUncached: computed, inputCacheWrite: written }
  const report = cache === null ? null : { ...cache, reusedTokens: read }
  return { model: 'clarke-1.0', usage, cache: report, isReplicas: false }
}

test('a next turn: how much, from where, and where it first differs', () => {
  const differs = { atToken: 9_000, in: 'assistant message 2, block 1' }
  equal(
    explainCache(row(9_000, 24, { source: 'slot', differs }, 976)),
    `clarke-1.0, a prompt of 10,000 tokens
  reused        9,000  90 %, from the slot in which the conversation before it had ended
  written         976  computed, and kept because the client marked it
  computed         24  computed besides
The nearest prompt held begins with the same 9,000 tokens; the first difference is in assistant message 2, block 1.`,
  )
})

test('the reason why no more was reused is that of the case', () => {
  const whole = { atToken: 100, in: 'the markup at the end' }
  const system = { atToken: 40, in: 'system message 1, block 1' }
  const cases: [RecordedUsage, RegExp][] = [
    [
      row(99, 1, { source: 'disk', differs: whole }),
      /The whole prompt was held\. Its last token is always computed\.$/,
    ],
    [row(90, 10, { source: 'slot', differs: whole }), /The model can go back only to certain points/],
    [
      row(0, 100, { source: 'none', differs: system }),
      /same 40 tokens; .* system message 1, block 1\. That is too little/,
    ],
    [row(0, 500, { source: 'none', differs: { ...system, atToken: 300 } }), /It was not used/],
    [row(200, 300, { source: 'copy', differs: { ...system, atToken: 300 } }), /went on from token 200/],
    [row(0, 100, { source: 'none', differs: null }), /Nothing was held for this organization/],
    [row(0, 0, null), /did not reach a slot/],
  ]
  for (const [asked, expected] of cases) match(explainCache(asked), expected)
})

test('of what a replica of a pool answered it is said how much was reused, and that no more is known', () => {
  equal(
    explainCache({ ...row(30, 11, { source: 'memory', differs: null }), isReplicas: true }),
    `clarke-1.0, a prompt of 41 tokens
  reused           30  73.1 %, as the replica says that answered
  written           0  computed, and kept because the client marked it
  computed         11  computed besides
A replica of a pool answered, which tells how much it reused, if that, and not why no more.`,
  )
  const none = explainCache({ ...row(0, 41, { source: 'none', differs: null }), isReplicas: true })
  match(none, /reused +0 {2}0 %, nothing\n[^]*\nA replica of a pool answered/)
})
