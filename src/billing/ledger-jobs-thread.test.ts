import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { until } from '../../test/harness/start-service.ts'
import { openSqlite } from '../db/open-sqlite.ts'
import { startLedgerJobsThread } from './ledger-jobs-thread.ts'

test('a thread that fails is told, is replaced after a while, and can be stopped', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-jobs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const clock = createManualClock()
  const said: string[] = []
  const log = {
    error: (fields: Readonly<Record<string, unknown>>, words: string) =>
      said.push(`${words}: ${String(fields['error'])}`),
  }
  const stop = startLedgerJobsThread({ path: join(folder, 'none', 'odyssey.db'), ledgerDaysMax: null, clock, log })
  await until(() => said.length === 1, 'The failure was not told.')
  assert.match(said[0] ?? '', /has failed: .*unable to open database file/)
  await until(() => {
    clock.advance(10_000)
    return said.length === 2
  }, 'The thread was not replaced.')
  await stop()
})

test('a thread that runs ends when it is told to', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-jobs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'odyssey.db')
  await (await openSqlite(path)).destroy()
  const log = { error: (_: unknown, words: string) => assert.fail(words) }
  await startLedgerJobsThread({ path, ledgerDaysMax: null, clock: createManualClock(), log })()
})
