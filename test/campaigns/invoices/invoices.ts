// A year of months for many organizations, with prices that change, charges that are voided, credits, adjustments and
// prepayments: each invoice comes to what the entries say, and does so again after a backup and a restore.

import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeMonths } from '../../../src/billing/availability/close-months.ts'
import { periodOf } from '../../../src/billing/availability/month.ts'
import { measuredBy, setObjective, usualCredits } from '../../../src/billing/availability/objectives.ts'
import { addAccountEntry } from '../../../src/billing/invoices/account-entries.ts'
import { closeInvoices } from '../../../src/billing/invoices/close-invoices.ts'
import { readInvoice } from '../../../src/billing/invoices/read-invoices.ts'
import { verifyInvoices } from '../../../src/billing/invoices/verify-invoices.ts'
import { toCharge, toReversal } from '../../../src/billing/ledger/ledger.ts'
import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { createPriceBook } from '../../../src/billing/prices/price-book.ts'
import { readPrices, setPrice } from '../../../src/billing/prices/prices.ts'
import { modelIds } from '../../../src/core/model.ts'
import { picosPerMicro, roundToMicros, toMicrosText } from '../../../src/core/money.ts'
import type { Database } from '../../../src/db/database.ts'
import type { DatabaseLocation } from '../../../src/db/database-location.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { backUp } from '../../../src/db/portable/back-up.ts'
import { restore } from '../../../src/db/portable/restore.ts'
import { localKey, publicKeyOf } from '../../../src/lib/signed-note.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { randomEntry } from '../../harness/databases/ledger-entries.ts'
import { createManualClock, type ManualClock } from '../../harness/manual-clock.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const operator = { kind: 'operator' } as const
const start = Date.UTC(2027, 0, 1)
const monthsAll = 12
const entriesPerMonth = 30
const currency = 'USD'

type Owed = { chargesPicos: bigint; adjustmentMicros: bigint }
type Expected = ReadonlyMap<string, Owed>

export async function runInvoices({ seed, count, log, database = 'sqlite' }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-invoices-'))
  const postgres = database === 'postgres' ? await createPostgresDatabase('nothing') : null
  const location = { home: folder, databaseUrl: postgres?.url ?? null }
  const db = await openDatabase(location)
  const clock = createManualClock(start)
  const key = generateKeyPairSync('ed25519').privateKey
  const keys = [publicKeyOf(key)]
  try {
    await prepare(db, clock, count)
    const expected = new Map<string, Owed>()
    for (let month = 0; month < monthsAll; month += 1) {
      await playMonth(db, { clock, random, organizations: count, expected })
      const parts = { db, clock, currency }
      const signing = { keys: [localKey(key)], name: 'invoices.example' }
      await closeInvoices({ ...parts, log: createLog('silent') }, signing, await closeMonths(parts, signing))
      log(`${month + 1} months`)
    }
    const first = await compare(db, expected, failures)
    const verified = await verifyInvoices(db, keys, ({ number, fault }) => failures.add(fault, `invoice ${number}`))
    await db.destroy()
    const restored = await compareRestored(location, keys, failures)
    if (JSON.stringify(restored.notes) !== JSON.stringify(first.notes)) failures.add('restored invoices are others')
    return failures.toResult({
      invoices: verified,
      'after a restore': restored.verified,
      entries: count * monthsAll * entriesPerMonth,
      'charged in all (micro-units)': toMicrosText(first.chargesPicos),
    })
  } finally {
    await postgres?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function prepare(db: Database, clock: ManualClock, organizations: number): Promise<void> {
  for (let number = 1; number <= organizations; number += 1) {
    const row = { id: `org_${number}`, name: `${number}`, created_at: 0, disabled_at: null } as const
    await db.insertInto('organizations').values(row).execute()
  }
  const promised = { ...measuredBy, organizationId: null, credits: usualCredits, effectiveAtMs: null }
  await setObjective({ db, clock }, operator, promised)
}

type Month = {
  readonly clock: ManualClock
  readonly random: Random
  readonly organizations: number
  readonly expected: Map<string, Owed>
}

/** Prices that are in force a moment later, what is used and voided, and what is adjusted; then the month is over. */
async function playMonth(db: Database, { clock, random, organizations, expected }: Month): Promise<void> {
  const month = new Date(clock.nowMs()).toISOString().slice(0, 7)
  const { fromMs, untilMs } = periodOf(month)
  for (const model of modelIds) {
    const rate = () => random.integer(1, 9_000_001)
    const input = rate()
    const rates = {
      input,
      cacheRead: random.integer(0, input),
      cacheWriteShort: rate(),
      cacheWriteLong: rate(),
      output: rate(),
    }
    const isOwn = random.chance(0.3)
    const organizationId = isOwn ? (`org_${random.integer(1, organizations)}` as const) : null
    await setPrice({ db, clock, currency }, operator, { organizationId, model, rates, effectiveAtMs: null })
  }
  const prices = createPriceBook(await readPrices(db, currency))
  const rows = []
  for (let number = 1; number <= organizations; number += 1) {
    const key = `org_${number} ${month}`
    const owed: Owed = { chargesPicos: 0n, adjustmentMicros: 0n }
    expected.set(key, owed)
    for (let index = 0; index < entriesPerMonth; index += 1) {
      const options = { random, prices, fromMs: fromMs + 3 * 3_600_000, toMs: untilMs, organizations }
      const made = randomEntry(0, options)
      const entry = {
        ...made,
        requestId: `req_${key.replace(' ', '_')}_${index}`,
        principal: { ...made.principal, organizationId: `org_${number}` },
      } as const
      const price = prices.find(entry.principal.organizationId, entry.model, entry.admittedAtMs)
      const costPicos = price === null || entry.outcome === 'failed' ? 0n : costOf(price.rates, entry.usage)
      const charge = price === null ? null : { priceId: price.id, costPicos }
      const row = toCharge({ ...entry, charge })
      rows.push(row)
      if (random.chance(0.1)) rows.push(toReversal(row, Math.min(untilMs - 1, entry.atMs + 1_000)))
      else owed.chargesPicos += costPicos
    }
    owed.adjustmentMicros = await adjust(db, clock, { random, organizationId: `org_${number}` })
  }
  for (let index = 0; index < rows.length; index += 500) await insertRows(db, rows.slice(index, index + 500))
  await live(db, random, { fromMs, untilMs })
  clock.advance(untilMs + 7 * 3_600_000 - clock.nowMs())
}

/** The service ran but for some hours, each model for others, so that there is something to give back. */
async function live(db: Database, random: Random, { fromMs, untilMs }: { fromMs: number; untilMs: number }) {
  const boot_id = `boot_${fromMs}`
  const rows = ['', ...modelIds].flatMap((subject, index) => {
    const downMs = subject === '' || random.chance(0.5) ? 0 : random.integer(60_000, 60 * 3_600_000)
    const middleMs = random.integer(fromMs + 1, untilMs - downMs - 1)
    const row = { boot_id, subject, ended_by: null }
    return [
      { ...row, number: 2 * index, from_at: fromMs, until_at: middleMs },
      { ...row, number: 2 * index + 1, from_at: middleMs + downMs, until_at: untilMs },
    ]
  })
  await db.insertInto('life_spans').values(rows).execute()
}

/** Worked out here once more, and not by what is tested. */
function costOf(
  rates: {
    readonly input: number
    readonly cacheRead: number
    readonly cacheWriteShort: number
    readonly cacheWriteLong: number
    readonly output: number
  },
  usage: {
    readonly inputUncached: number
    readonly inputCacheRead: number
    readonly inputCacheWrite: number
    readonly inputCacheWriteLong?: number
    readonly output: number
  },
): bigint {
  const long = usage.inputCacheWriteLong ?? 0
  const parts: readonly (readonly [number, number])[] = [
    [usage.inputUncached, rates.input],
    [usage.inputCacheRead, rates.cacheRead],
    [usage.inputCacheWrite - long, rates.cacheWriteShort],
    [long, rates.cacheWriteLong],
    [usage.output, rates.output],
  ]
  return parts.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(rate), 0n)
}

type Adjusting = { readonly random: Random; readonly organizationId: `org_${string}` }

async function adjust(db: Database, clock: ManualClock, { random, organizationId }: Adjusting): Promise<bigint> {
  if (random.chance(0.2)) {
    const micros = random.integer(1, 50_000_000)
    await addAccountEntry({ db, clock, currency: 'USD' }, operator, {
      organizationId,
      kind: 'prepayment',
      micros,
      reason: 'paid',
    })
  }
  if (!random.chance(0.2)) return 0n
  const micros = random.integer(-1_000_000, 1_000_000) || 1
  await addAccountEntry({ db, clock, currency: 'USD' }, operator, {
    organizationId,
    kind: 'adjustment',
    micros,
    reason: 'settled',
  })
  return BigInt(micros)
}

async function compare(db: Database, expected: Expected, failures: Failures) {
  const rows = await db.selectFrom('invoices').selectAll().orderBy('number').execute()
  let chargesPicos = 0n
  rows.forEach(({ number }, index) => {
    if (number !== index + 1) failures.add('a number is missing', String(number))
  })
  if (rows.length !== expected.size) failures.add(`${rows.length} invoices and not ${expected.size}`)
  for (const { organization_id: organizationId, month, number, total_micros: total } of rows) {
    const label = `${organizationId} ${month}`
    const owed = expected.get(label)
    const { text } = await readInvoice(db, operator, { organizationId, number })
    if (owed === undefined) {
      failures.add('nobody expects it', label)
      continue
    }
    chargesPicos += owed.chargesPicos
    if (text.chargesMicros !== toMicrosText(owed.chargesPicos))
      failures.add(`${text.chargesMicros} charged, and the entries come to ${toMicrosText(owed.chargesPicos)}`, label)
    const lines = [...text.usage, ...text.rounding].reduce((sum, { micros }) => sum + toPicos(micros), 0n)
    if (lines !== owed.chargesPicos) failures.add('the lines are not the sum', label)
    const credits = text.credits.reduce((sum, { micros }) => sum + BigInt(micros), 0n)
    const wanted = roundToMicros(owed.chargesPicos) + credits + owed.adjustmentMicros
    if (BigInt(total as number) !== wanted) failures.add(`a total of ${String(total)} and not ${wanted}`, label)
  }
  return { chargesPicos, notes: rows.map(({ note }) => note) }
}

function toPicos(micros: string): bigint {
  const [, sign, whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(micros) ?? []
  const picos = BigInt(whole) * picosPerMicro + BigInt(rest.padEnd(6, '0'))
  return sign === '-' ? -picos : picos
}

async function compareRestored(location: DatabaseLocation, keys: readonly Uint8Array[], failures: Failures) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-invoices-restored-'))
  const file = join(folder, 'backup.db')
  try {
    await backUp(location, file)
    const fresh = { home: join(folder, 'home'), databaseUrl: null }
    await restore(fresh, { path: file, replaces: false })
    const db = await openDatabase(fresh)
    const verified = await verifyInvoices(db, keys, ({ number, fault }) => failures.add(fault, `restored ${number}`))
    const rows = await db.selectFrom('invoices').select('note').orderBy('number').execute()
    await db.destroy()
    return { verified, notes: rows.map(({ note }) => note) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
