// node bin/odyssey.cjs --run bench/ledger/availability-reports.ts --rows N --folder FOLDER [--database postgresql://…] --fill
// node bin/odyssey.cjs --run bench/ledger/availability-reports.ts --rows N --folder FOLDER [--database …] [--close]
//
// Fills a ledger with requests of a whole month, half of them of one organization, beside a gateway that was alive all the
// time and models that were asked; then asks for that organization's availability in the month, as the page and the
// command do, for what is left of its error budget, and for the report once it is signed. The ledger is kept in the
// folder, so that it can be filled in pieces, and read again. With --close it also signs the month, which hashes every row.

import { mkdirSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { closeMonth } from '../../src/billing/availability/close-months.ts'
import { periodOf } from '../../src/billing/availability/month.ts'
import { readCurrent, readReports } from '../../src/billing/availability/read-reports.ts'
import { readHistory } from '../../src/billing/availability/status-history.ts'
import { rollUp } from '../../src/billing/usage/roll-up.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Database } from '../../src/db/database.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { localKey } from '../../src/lib/signed-note.ts'
import { wholeNumber } from '../whole-number.ts'
import { ask, printHead } from './ask.ts'
import { organizationCount } from './fill-ledger.ts'
import { fillKeptLedger, openToFill } from './kept-ledger.ts'

const runs = 20
const month = '2026-10'
const period = periodOf(month)
const hourMs = 3_600_000
const operator = { kind: 'operator' } as const
const question = { organizationId: 'org_1', month, currency: 'USD' } as const
const nowMs = period.untilMs + 12 * hourMs

const type = 'string'
const { values } = parseArgs({
  options: {
    rows: { type },
    database: { type },
    folder: { type },
    fill: { type: 'boolean' },
    close: { type: 'boolean' },
  },
})
const rows = wholeNumber('rows', values.rows, 1_000_000)
if (values.folder === undefined) throw new Error('--folder says where the ledger is kept.')
mkdirSync(values.folder, { recursive: true })
const location = { home: values.folder, databaseUrl: values.database ?? null }
const db = values.fill === true ? await openToFill(location) : await openDatabase(location)
try {
  if (values.fill === true) await fill()
  else await askAll()
} finally {
  await db.destroy()
}

async function fill(): Promise<void> {
  await fillKeptLedger(db, rows, period.untilMs - period.fromMs, period.untilMs)
  const startedMs = performance.now()
  await rollUp(db, { pause: () => Promise.resolve(), batchRows: 50_000 })
  console.log(`rolled up in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
  await addOrganizations(db)
  await addSigns(db)
  if (isPostgres(db)) await sql`analyze`.execute(db)
}

async function addOrganizations(to: Database): Promise<void> {
  const organizations = Array.from({ length: organizationCount }, (_, index) => ({
    id: `org_${index + 1}` as const,
    name: `Organization ${index + 1}`,
    created_at: period.fromMs,
  }))
  await to
    .insertInto('organizations')
    .values(organizations)
    .onConflict((one) => one.doNothing())
    .execute()
}

/** A gateway that starts anew every day, and models that fail for a minute twice in it. */
async function addSigns(to: Database): Promise<void> {
  const dayMs = 24 * hourMs
  for (let from = period.fromMs; from < period.untilMs; from += dayMs) {
    const boot_id = `boot_${from}`
    const gateway = { boot_id, number: 0, subject: '', from_at: from, until_at: from + dayMs - 20_000, ended_by: null }
    const models = modelIds.flatMap((subject, index) =>
      [0, 8, 16].map((hour, part) => ({
        boot_id,
        number: 1 + index * 3 + part,
        subject,
        from_at: from + hour * hourMs,
        until_at: from + (hour + 8) * hourMs - 60_000,
        ended_by: 'engine-failed',
      })),
    )
    await to
      .insertInto('life_spans')
      .values([gateway, ...models])
      .onConflict((one) => one.doNothing())
      .execute()
  }
}

async function askAll(): Promise<void> {
  const counted = await db
    .selectFrom('availability_minutes')
    .select(sql<number>`cast(sum(valid) as bigint)`.as('valid'))
    .executeTakeFirstOrThrow()
  console.log(`${counted.valid} requests in the minutes of availability`)
  printHead('question')
  await ask('the report of the month, not signed yet', runs, () => readCurrent(db, operator, { ...question, nowMs }))
  const clock = { ...systemClock, nowMs: () => nowMs }
  await ask('the history that the status page shows', 5, () => readHistory({ db, clock, models: modelIds }))
  if (values.close === true) {
    const key = localKey(generateKeyPairSync('ed25519').privateKey)
    const version = (await readReports(db, operator, question)).length + 1
    await ask('signing the month, which hashes every row', 1, () =>
      closeMonth({ db, clock }, { keys: [key], name: 'bench.example' }, question, version),
    )
    await ask('the signed report', runs, () => readReports(db, operator, question))
  }
}
