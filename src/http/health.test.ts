import assert from 'node:assert/strict'
import { openTestFeed } from '../../test/harness/databases/change-feed.ts'
import { queueEngine } from '../../test/harness/engines/queued-engine.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import fastify from 'fastify'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { until } from '../../test/harness/start-service.ts'
import { createAccessCache } from '../accounts/access/access-cache.ts'
import { createLedger } from '../billing/ledger/ledger.ts'
import { modelIds } from '../core/model.ts'
import { openSqlite } from '../db/open-sqlite.ts'
import { startLedgerWorker, createSqliteLedgerWriter } from '../billing/ledger/writer/sqlite-ledger-writer.ts'
import { FakeEngine } from '../engines/fake/fake-engine.ts'
import { createCatalog } from '../models/catalog.ts'
import { describeServedModel } from '../models/served-models.ts'
import { systemClock } from '../lib/clock.ts'
import { readinessRoute } from './health.ts'
import { createRequestTracker } from './request-tracker.ts'

const outageMs = 60_000
const ready = Object.fromEntries(modelIds.map((id) => [id, 'ready']))

/** The route over a socket, above a real database file that can grow to a megabyte. */
async function start(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-ready-'))
  const path = join(folder, 'odyssey.db')
  const db = await openSqlite(path)
  const rows = createSqliteLedgerWriter({
    path,
    report: { failed: () => {}, recovered: () => {} },
    // 250 pages are 1,024,000 bytes.
    worker: startLedgerWorker({ path, pagesMax: 250 }, systemClock),
  })
  const clock = createManualClock()
  const feed = openTestFeed(db, clock)
  const times = { confirmBeforeUseMs: null, outageMs }
  const access = createAccessCache({ db, feed, clock, hashSecret: new Uint8Array(32), ...times })
  await access.refresh()
  const tracker = createRequestTracker()
  const settings = { thinking: 'off', outputTokensMax: 10 } as const
  const { engine, queue } = queueEngine(new FakeEngine())
  const catalog = createCatalog(modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue })))
  const app = fastify()
  app.get('/readyz', readinessRoute({ inference: { catalog, ledger: createLedger(rows) }, access, tracker }))
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  context.after(async () => {
    await app.close()
    await access.close()
    await feed.close()
    await rows.close()
    await db.destroy().catch(() => {})
    rmSync(folder, { recursive: true })
  })
  const ask = async () => {
    const response = await fetch(`${address}/readyz`)
    return [response.status, await response.json()] as const
  }
  return { path, db, rows, clock, access, tracker, ask }
}

test('a service that can record nothing is not ready, says which part, and is ready again once there is room', async (context) => {
  const { path, rows, ask } = await start(context)
  assert.deepEqual(await ask(), [200, { status: 'ready', models: ready, keys: 'ready', ledger: 'ready' }])
  const other = new DatabaseSync(path)
  context.after(() => other.close())
  other.exec('CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (zeroblob(700000))')
  await assert.rejects(async () => {
    for (let number = 0; number < 2_000; number += 1) await rows.write([ledgerRow(number)])
  }, /full/)
  assert.deepEqual(await ask(), [503, { status: 'not ready', models: ready, keys: 'ready', ledger: 'down' }])
  other.exec('DROP TABLE filling')
  await until(async () => (await ask())[0] === 200, 'The service does not become ready again.')
})

test('a service that can check no key is not ready', async (context) => {
  const { db, clock, access, ask } = await start(context)
  await db.destroy()
  clock.advance(outageMs)
  assert.equal((await ask())[0], 200)
  clock.advance(1)
  assert.deepEqual(await ask(), [503, { status: 'not ready', models: ready, keys: 'down', ledger: 'ready' }])
  assert.equal(access.isAvailable(), false)
})

test('a service that stops is not ready', async (context) => {
  const { tracker, ask } = await start(context)
  await tracker.drain()
  assert.deepEqual(await ask(), [503, { status: 'draining', models: ready, keys: 'ready', ledger: 'ready' }])
})
