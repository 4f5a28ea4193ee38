import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { ledgerRow } from '../../../../test/harness/databases/ledger-row.ts'
import { until } from '../../../../test/harness/start-service.ts'
import { systemClock } from '../../../lib/clock.ts'
import { openSqlite } from '../../../db/open-sqlite.ts'
import { startLedgerWorker, createSqliteLedgerWriter } from './sqlite-ledger-writer.ts'
import type { WorkerSettings } from './sqlite-ledger-worker.ts'

/** A database file, and what its writer has reported. */
async function open(context: TestContext, settings: Pick<WorkerSettings, 'pagesMax'> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-rows-'))
  const path = join(folder, 'odyssey.db')
  await (await openSqlite(path)).destroy()
  const worker = startLedgerWorker({ path, ...settings }, systemClock)
  const said: string[] = []
  const report = {
    failed: (_: unknown, what: string) => void said.push(what),
    recovered: (what: string) => void said.push(what),
  }
  const writer = createSqliteLedgerWriter({ path, report, worker })
  context.after(async () => {
    await writer.close()
    rmSync(folder, { recursive: true })
  })
  return { path, worker, writer, said }
}

function countRows(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(db.prepare('SELECT count(*) AS count FROM ledger').get()?.['count'])
  } finally {
    db.close()
  }
}

test('the event loop goes on while a commit waits for the disk', async (context) => {
  const { path, writer } = await open(context)
  const blocker = new DatabaseSync(path)
  blocker.exec('BEGIN IMMEDIATE')
  let isWritten = false
  const written = writer.write([ledgerRow(1)]).then(() => (isWritten = true))
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(isWritten, false)
  blocker.exec('COMMIT')
  blocker.close()
  await written
  assert.equal(countRows(path), 1)
})

test('rows that an ended thread did not acknowledge are written once by its successor', async (context) => {
  const { path, worker, writer, said } = await open(context)
  const numbers = Array.from({ length: 300 }, (_, number) => number)
  const kills = [0, 1, 2].map((round) => new Promise((resolve) => setTimeout(() => resolve(worker.kill()), 40 * round)))
  await Promise.all([...kills, ...numbers.map((number) => writer.write([ledgerRow(number)]))])
  assert.equal(countRows(path), numbers.length)
  assert.deepEqual(said, [])
})

test('writes are rejected on a full disk and pass again once there is room, without a restart', async (context) => {
  const { path, writer, said } = await open(context, { pagesMax: 250 })
  const other = new DatabaseSync(path)
  context.after(() => other.close())
  // 250 pages are 1,024,000 bytes.
  other.exec('CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (zeroblob(700000))')
  let writtenCount = 0
  const refused = async () => {
    for (; writtenCount < 2_000; writtenCount += 1) await writer.write([ledgerRow(writtenCount)])
  }
  await assert.rejects(refused, /full/)
  assert.equal(countRows(path), writtenCount)
  assert.match(writer.fault()?.message ?? '', /full/)
  await assert.rejects(writer.write([{ ...ledgerRow(writtenCount), body_hash: 'x'.repeat(100_000) }]), /full/)

  other.exec('DROP TABLE filling')
  await until(() => writer.fault() === null, 'The probe has not noticed that there is room.')
  await writer.write([ledgerRow(writtenCount)])
  assert.equal(countRows(path), writtenCount + 1)
  assert.deepEqual(said, [
    'The ledger cannot be written: new requests are refused until it can.',
    'The ledger can be written again.',
  ])
  assert.equal(other.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
})
