import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Database } from '../../db/database.ts'
import { openMemoryDatabase } from '../../../test/harness/databases/memory-database.ts'
import { createDirectLedgerWriter } from './writer/insert-rows.ts'
import { createLedger } from './ledger.ts'
import type { LedgerEntry } from './ledger-entry.ts'

let db: Database
beforeEach(async () => {
  db = await openMemoryDatabase()
})
afterEach(() => db.destroy())

const entry = (number: number): LedgerEntry => ({
  requestId: `req_${number}`,
  principal: { kind: 'api-key', apiKeyId: 'key_1', organizationId: 'org_1', projectId: 'proj_1' },
  atMs: 1_800_000_000_000 + number,
  admittedAtMs: 1_799_999_999_000 + number,
  model: 'clarke-1.0',
  outcome: 'finished',
  reason: 'end',
  usage: {
    inputUncached: 3,
    inputCacheRead: 2,
    inputCacheWrite: 1,
    inputCacheWriteLong: 0,
    output: number,
    outputThinking: 0,
  },
  cache: { source: 'slot', reusedTokens: 2, differs: { atToken: 2, in: 'user message 1, block 1' } },
  charge: { priceId: 'price_1', costPicos: 70_500_000n },
  firstEventMs: 1.6,
  firstTokenMs: 5.5,
  durationMs: 12.4,
})

const rows = () => db.selectFrom('ledger').selectAll().orderBy('at').execute()

test('entries that arrive together are all written, each once', async () => {
  const ledger = createLedger(createDirectLedgerWriter(db))
  const numbers = Array.from({ length: 1_201 }, (_, number) => number)
  await Promise.all(numbers.map((number) => ledger.append(entry(number))))
  const written = await rows()
  assert.deepEqual(
    written.map(({ output }) => output),
    numbers,
  )
  assert.deepEqual([written[0]?.first_event_ms, written[0]?.duration_ms, written[0]?.cache_differs_at], [2, 12, 2])
})

test('the same request appended again changes nothing', async () => {
  const ledger = createLedger(createDirectLedgerWriter(db))
  await ledger.append(entry(1))
  await ledger.append(entry(1))
  // One that says something else is none that was given again, but a change.
  await assert.rejects(ledger.append({ ...entry(1), outcome: 'failed' }), /append-only/)
  assert.deepEqual(
    (await rows()).map(({ outcome }) => outcome),
    ['finished'],
  )
})

test('an entry that cannot be written is reported, and later ones are written again', async () => {
  const ledger = createLedger(createDirectLedgerWriter(db))
  const broken = { ...entry(1), model: null as unknown as string }
  await assert.rejects(ledger.append(broken))
  await ledger.append(entry(2))
  assert.equal((await rows()).length, 1)
})
