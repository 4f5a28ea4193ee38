import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onEachDatabase } from '../../../test/harness/databases.ts'
import { ledgerRow } from '../../../test/harness/ledger-row.ts'
import { createApiKey } from '../../accounts/api-keys.ts'
import { ensureDefaultHome } from '../../accounts/organizations.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { lockHome } from '../lock-home.ts'
import { sqlitePath, type DatabasePlace } from '../database-place.ts'
import { openDatabase } from '../open-database.ts'
import { insertRows } from '../../billing/ledger/write-ahead/insert-rows.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'

const operator = { kind: 'operator' } as const

/** A place with a key, its audit rows and so many ledger rows. */
async function fill(place: DatabasePlace, rowCount: number): Promise<void> {
  const db = await openDatabase(place)
  const home = await ensureDefaultHome({ db, clock: systemClock })
  await createApiKey({ db, clock: systemClock, hashSecret: new Uint8Array(32) }, operator, { name: 'Größe ✓', ...home })
  for (let number = 0; number < rowCount; number += 1) await insertRows(db, [ledgerRow(number)])
  await db.destroy()
}

/** Everything that can be told apart of what a database holds. */
async function read(place: DatabasePlace) {
  const db = await openDatabase(place)
  try {
    const ledger = await db.selectFrom('ledger').selectAll().orderBy('sequence').execute()
    const audit = await db.selectFrom('audit').selectAll().orderBy('id').execute()
    const keys = await db.selectFrom('api_keys').selectAll().orderBy('id').execute()
    const organizations = await db.selectFrom('organizations').selectAll().execute()
    return JSON.parse(JSON.stringify({ ledger, audit, keys, organizations })) as Record<string, unknown[]>
  } finally {
    await db.destroy()
  }
}

async function withDatabase<Result>(place: DatabasePlace, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = await openDatabase(place)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

onEachDatabase(({ name, createPlace }) => {
  test('what is backed up is restored to the last row, and counting goes on after it', async () => {
    const [from, to] = [await createPlace(), await createPlace()]
    await fill(from, 40)
    const path = join(from.home, 'backup.db')
    const counts = await backUp(from, path)
    assert.deepEqual([counts.get('ledger'), counts.get('api_keys')], [40, 1])
    assert.deepEqual(await restore(to, { path, replaces: false }), counts)
    assert.deepEqual(await read(to), await read(from))
    const last = await withDatabase(to, async (db) => {
      await insertRows(db, [ledgerRow(1_000)])
      return db.selectFrom('ledger').select('sequence').where('request_id', '=', 'req_1000').executeTakeFirstOrThrow()
    })
    assert.equal(last.sequence, 41)
  })

  test('a backup made under load is what the ledger was at one moment', async () => {
    const place = await createPlace()
    await fill(place, 1)
    const db = await openDatabase(place)
    let isOver = false
    const load = (async () => {
      for (let number = 1; !isOver; number += 1) {
        await insertRows(db, [ledgerRow(number)])
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const path = join(place.home, 'backup.db')
    const counts = await backUp(place, path)
    isOver = true
    await load
    await db.destroy()
    const copy = await createPlace()
    await restore(copy, { path, replaces: false })
    const [kept, all] = [(await read(copy))['ledger'] ?? [], (await read(place))['ledger'] ?? []]
    assert.equal(kept.length, counts.get('ledger'))
    assert.deepEqual(kept, all.slice(0, kept.length))
  })

  test('a database that holds something is replaced only on demand, and guards its ledger again', async () => {
    const [from, to] = [await createPlace(), await createPlace()]
    await fill(from, 3)
    await fill(to, 5)
    const path = join(from.home, 'backup.db')
    await backUp(from, path)
    await assert.rejects(restore(to, { path, replaces: false }), /not empty/)
    assert.equal((await read(to))['ledger']?.length, 5)
    await restore(to, { path, replaces: true })
    assert.deepEqual(await read(to), await read(from))
    await assert.rejects(
      withDatabase(to, (db) =>
        db
          .updateTable('ledger')
          .set({ output: 9 } as object)
          .execute(),
      ),
      /append-only/,
    )
  })

  test('a file that is damaged or none of ours changes nothing', async () => {
    const place = await createPlace()
    await fill(place, 2)
    const path = join(place.home, 'backup.db')
    writeFileSync(path, Buffer.alloc(8_192, 7))
    await assert.rejects(restore(place, { path, replaces: true }), /cannot be read as a database/)
    await assert.rejects(restore(place, { path: join(place.home, 'nowhere.db'), replaces: true }), /There is no file/)
    assert.equal((await read(place))['ledger']?.length, 2)
    assert.ok(!existsSync(join(place.home, 'odyssey.db.restoring')))
  })

  test('nothing is restored under a running service, and no backup overwrites a file', async () => {
    const place = await createPlace()
    await fill(place, 1)
    const path = join(place.home, 'backup.db')
    await backUp(place, path)
    await assert.rejects(backUp(place, path), /exists already/)
    const unlock = lockHome(join(place.home, 'serve.lock'))
    await assert.rejects(restore(place, { path, replaces: true }), /service is running/)
    unlock?.()
  })

  if (name === 'PostgreSQL')
    test('what was loaded is known to PostgreSQL’s planner at once', async () => {
      const [from, to] = [await createPlace(), await createPlace()]
      const sqlite = { home: from.home, databaseUrl: null }
      await fill(sqlite, 7)
      await restore(to, { path: sqlitePath(sqlite), replaces: false })
      const known = await withDatabase(to, (db) =>
        sql<{ relname: string; reltuples: number }>`
        select relname, reltuples from pg_class where relname in ('ledger', 'api_keys') order by relname`.execute(db),
      )
      assert.deepEqual(known.rows, [
        { relname: 'api_keys', reltuples: 1 },
        { relname: 'ledger', reltuples: 7 },
      ])
    })

  test('a data folder of SQLite moves to the database, also from the file itself', async () => {
    const [from, to] = [await createPlace(), await createPlace()]
    const sqlite = { home: from.home, databaseUrl: null }
    await fill(sqlite, 7)
    await restore(to, { path: sqlitePath(sqlite), replaces: false })
    assert.deepEqual(await read(to), await read(sqlite))
    assert.ok(!readdirSync(from.home).some((name) => name.includes('restoring')))
  })
})
