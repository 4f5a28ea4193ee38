import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { createApiKey } from '../../accounts/api-keys.ts'
import { recordRestore } from '../../accounts/audit/restores.ts'
import { ensureDefaultHome } from '../../accounts/organizations.ts'
import { monthOf, periodOf } from '../../billing/availability/month.ts'
import { measuredBy, setObjective, usualCredits } from '../../billing/availability/objectives.ts'
import { reportText } from '../../billing/availability/report.ts'
import { systemClock } from '../../lib/clock.ts'
import { amountText } from '../tables/amount.ts'
import type { Database } from '../database.ts'
import { lockHome } from '../lock-home.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { listDatabaseMigrations, migrateDatabase, openDatabase, openServingDatabase } from '../open-database.ts'
import { insertRows } from '../../billing/ledger/writer/insert-rows.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'

const operator = { kind: 'operator' } as const

/** A database with a key, its audit rows and so many ledger rows. */
async function fill(location: DatabaseLocation, rowCount: number): Promise<void> {
  const db = await openDatabase(location)
  const home = await ensureDefaultHome({ db, clock: systemClock })
  await createApiKey({ db, clock: systemClock, hashSecret: new Uint8Array(32) }, operator, { name: 'Größe ✓', ...home })
  for (let number = 0; number < rowCount; number += 1) await insertRows(db, [ledgerRow(number)])
  await db.destroy()
}

/** Everything that can be told apart of what a database holds. */
async function read(location: DatabaseLocation) {
  const db = await openDatabase(location)
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

async function withDatabase<Result>(
  location: DatabaseLocation,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = await openDatabase(location)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

onEachDatabase(({ name, createLocation }) => {
  test('a backup is restored to the last row, and counters go on after it', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
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

  test('an amount beyond the whole numbers of JavaScript is backed up and restored with all its digits', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
    await fill(from, 1)
    const path = join(from.home, 'backup.db')
    const invoice = { number: 1, organization_id: 'org_1', month: '2027-03', at: 1, currency: 'VND', note: '' } as const
    await withDatabase(from, (db) =>
      db
        .insertInto('invoices')
        .values({ ...invoice, total_micros: 2n ** 53n + 1n, prepaid_micros: -(2n ** 63n) })
        .execute(),
    )
    await backUp(from, path)
    await restore(to, { path, replaces: false })
    const amounts = [amountText('total_micros').as('total'), amountText('prepaid_micros').as('prepaid')]
    const rows = await withDatabase(to, (db) => db.selectFrom('invoices').select(amounts).execute())
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ total: '9007199254740993', prepaid: '-9223372036854775808' }],
    )
  })

  test('a month’s report of availability is the same to the byte after a restore, also into the other database', async () => {
    const from = await createLocation()
    await fill(from, 40)
    const path = join(from.home, 'backup.db')
    const { at } = ledgerRow(0)
    const asked = await withDatabase(from, async (db) => {
      const { organization_id: organizationId } = await db
        .selectFrom('ledger')
        .select('organization_id')
        .executeTakeFirstOrThrow()
      const month = monthOf(at)
      const { fromMs, untilMs } = periodOf(month)
      const organization = { id: organizationId, name: 'Asked', created_at: fromMs }
      await db
        .insertInto('organizations')
        .values(organization)
        .onConflict((one) => one.doNothing())
        .execute()
      const span = { boot_id: 'boot_1', number: 0, subject: '', ended_by: null, from_at: fromMs }
      await db
        .insertInto('life_spans')
        .values({ ...span, until_at: untilMs - 600_000 })
        .execute()
      const clock = { ...systemClock, nowMs: () => fromMs }
      const promised = {
        ...measuredBy,
        credits: usualCredits,
        firstTokenMs: 1,
        organizationId: null,
        effectiveAtMs: null,
      }
      await setObjective({ db, clock }, operator, promised)
      return { question: { organizationId, month, currency: 'USD' }, nowMs: untilMs + 86_400_000 }
    })
    await backUp(from, path)
    const reportOf = (location: DatabaseLocation) =>
      withDatabase(location, async (db) => (await reportText(db, asked.question, asked.nowMs)).text)
    const expected = await reportOf(from)
    assert.equal((JSON.parse(expected) as { readonly ledger: { readonly rows: number } }).ledger.rows, 40)
    const places = [await createLocation(), { home: join(from.home, 'other'), databaseUrl: null }]
    for (const to of places) {
      await restore(to, { path, replaces: false })
      assert.equal(await reportOf(to), expected)
    }
  })

  test('a backup made under load is what the ledger was at one moment', async () => {
    const location = await createLocation()
    await fill(location, 1)
    const db = await openDatabase(location)
    let isOver = false
    const load = (async () => {
      for (let number = 1; !isOver; number += 1) {
        await insertRows(db, [ledgerRow(number)])
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const path = join(location.home, 'backup.db')
    const counts = await backUp(location, path)
    isOver = true
    await load
    await db.destroy()
    const copy = await createLocation()
    await restore(copy, { path, replaces: false })
    const [kept, all] = [(await read(copy))['ledger'] ?? [], (await read(location))['ledger'] ?? []]
    assert.equal(kept.length, counts.get('ledger'))
    assert.deepEqual(kept, all.slice(0, kept.length))
  })

  test('what is recorded of a restore is there from the first moment of the database, or nothing of the backup is', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
    await fill(from, 3)
    await fill(to, 5)
    const path = join(from.home, 'backup.db')
    await backUp(from, path)
    const before = await read(to)
    let isReplacing = true
    const complete = async (db: Database) => {
      await recordRestore({ db, clock: systemClock }, { file: 'backup.db', key: null })
      // Whoever looks now sees either all of the old or all of the new.
      assert.deepEqual(await read(to), before)
      if (isReplacing) throw new Error('The machine is gone.')
    }
    await assert.rejects(restore(to, { path, replaces: true, complete }), /machine is gone/)
    assert.deepEqual(await read(to), before)
    isReplacing = false
    await restore(to, { path, replaces: true, complete })
    const restored = await read(to)
    assert.equal(restored['ledger']?.length, 3)
    assert.ok(JSON.stringify(restored['audit']).includes('"installation:restore"'))
  })

  test('a database that holds something is replaced only on demand, and guards its ledger again', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
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
    const location = await createLocation()
    await fill(location, 2)
    const path = join(location.home, 'backup.db')
    writeFileSync(path, Buffer.alloc(8_192, 7))
    await assert.rejects(restore(location, { path, replaces: true }), /cannot be read as a database/)
    await assert.rejects(
      restore(location, { path: join(location.home, 'nowhere.db'), replaces: true }),
      /There is no file/,
    )
    assert.equal((await read(location))['ledger']?.length, 2)
    assert.ok(!existsSync(join(location.home, 'odyssey.db.restoring')))
  })

  test('a backup in which one letter of a row differs is not restored', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
    await fill(from, 3)
    const path = join(from.home, 'backup.db')
    await backUp(from, path)
    const whole = readFileSync(path)
    const forged = Buffer.from(whole)
    forged.write('Grösse', forged.indexOf('Größe'))
    writeFileSync(path, forged)
    await assert.rejects(restore(to, { path, replaces: false }), /not what its checksum says/)
    writeFileSync(path, whole.subarray(0, -200))
    await assert.rejects(restore(to, { path, replaces: false }), /not what its checksum says/)
    writeFileSync(path, whole)
    await restore(to, { path, replaces: false })
    assert.deepEqual(await read(to), await read(from))
  })

  test('nothing is restored under a running service, and no backup overwrites a file', async () => {
    const location = await createLocation()
    await fill(location, 1)
    const path = join(location.home, 'backup.db')
    await backUp(location, path)
    await assert.rejects(backUp(location, path), /exists already/)
    const unlock = lockHome(join(location.home, 'serve.lock'))
    await assert.rejects(restore(location, { path, replaces: true }), /service is running/)
    unlock?.()
  })

  test('of two backups to one file at once, one is there whole, and the other is told that it exists', async () => {
    const [location, other] = [await createLocation(), await createLocation()]
    await fill(location, 5)
    const path = join(location.home, 'backup.db')
    const ends = await Promise.allSettled([backUp(location, path), backUp(location, path)])
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
    assert.deepEqual(refused, [`Error: ${path} exists already.`])
    assert.ok(!readdirSync(location.home).some((file) => file.includes('unfinished')))
    await restore(other, { path, replaces: false })
    assert.deepEqual(await read(other), await read(location))
  })

  if (name === 'PostgreSQL') {
    test('a data folder that belongs to PostgreSQL is refused where the environment does not name it', async () => {
      const location = await createLocation()
      await fill(location, 2)
      const unnamed = { home: location.home, databaseUrl: null }
      const path = join(location.home, 'backup.db')
      const works = [openDatabase, openServingDatabase, migrateDatabase, listDatabaseMigrations]
      for (const work of works) await assert.rejects(work(unnamed), /belongs to a PostgreSQL database/)
      await assert.rejects(backUp(unnamed, path), /belongs to a PostgreSQL database/)
      await backUp(location, path)
      await assert.rejects(restore(unnamed, { path, replaces: false }), /belongs to a PostgreSQL database/)
      assert.ok(!existsSync(sqlitePath(unnamed)))
      await restore(unnamed, { path, replaces: true })
      assert.deepEqual(await read(unnamed), await read(location))
    })

    test('PostgreSQL’s planner knows restored tables at once', async () => {
      const [from, to] = [await createLocation(), await createLocation()]
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
  }

  test('a data folder of SQLite moves to the database, also from the file itself', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
    const sqlite = { home: from.home, databaseUrl: null }
    await fill(sqlite, 7)
    await restore(to, { path: sqlitePath(sqlite), replaces: false })
    assert.deepEqual(await read(to), await read(sqlite))
    assert.ok(!readdirSync(from.home).some((name) => name.includes('restoring')))
  })
})
