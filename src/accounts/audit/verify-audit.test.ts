import { deepEqual, equal, ok } from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import type { Transaction } from 'kysely'
import { createRandom, type Random } from '../../../test/campaigns/random.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { chainStart, hashAuditRow } from '../../db/audit-chain.ts'
import { change } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import type { Tables } from '../../db/tables.ts'
import { systemClock } from '../../lib/clock.ts'
import { readAnchors, readAnchorsInForce, writeAnchors, type Anchor } from './anchors.ts'
import { readAuditRows } from './read-audit.ts'
import { recordRestore } from './restores.ts'
import type { AuditFault, ChainPosition } from './chain-walk.ts'
import { verifyAudit, verifyAuditPart } from './verify-audit.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-audit-'))
after(() => rmSync(folder, { recursive: true }))

const operator = { kind: 'operator' } as const
const organizationId: OrganizationId = 'org_tested'
const neighbour: OrganizationId = 'org_neighbour'
const rowCount = 40

onEachDatabase((database) => {
  let db: Database
  let files = 0
  const newFile = () => ({ path: join(folder, `${database.name}-${(files += 1)}.jsonl`), key: new Uint8Array(32) })
  const record = (id: OrganizationId, target: string) =>
    change({ db, clock: systemClock }, operator, { action: 'things:change', organizationId: id, target }, (_, note) => {
      note({ name: 'before' }, { name: target })
      return Promise.resolve()
    })

  beforeEach(async () => {
    db = await database.open()
    for (let count = 0; count < rowCount; count += 1) {
      await record(organizationId, `thing ${count}`)
      if (count % 4 === 0) await record(neighbour, `other ${count}`)
    }
  })
  afterEach(() => db.destroy())

  test('an untouched audit verifies', async () => {
    const verdict = await verifyAudit(db, organizationId, [])
    deepEqual(verdict, { organizationId, rows: rowCount, deleted: 0, faults: [] })
    deepEqual(await verifyAudit(db, 'org_unknown', []), {
      organizationId: 'org_unknown',
      rows: 0,
      deleted: 0,
      faults: [],
    })
  })

  test('writers at the same time make one chain', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, count) => record(organizationId, `at once ${count}`)))
    deepEqual(await verifyAudit(db, organizationId, []), {
      organizationId,
      rows: rowCount + 60,
      deleted: 0,
      faults: [],
    })
  })

  test('a change that fails leaves no gap', async () => {
    const action = { action: 'things:change', organizationId, target: 'failing' }
    await change({ db, clock: systemClock }, operator, action, () => Promise.reject(new Error('no'))).catch(() => {})
    await record(organizationId, 'next')
    deepEqual(await verifyAudit(db, organizationId, []), { organizationId, rows: rowCount + 1, deleted: 0, faults: [] })
  })

  const tamperCount = database.name === 'SQLite' ? 1_000 : 100
  test(`${tamperCount} random tampers, each of them found`, async () => {
    const file = newFile()
    equal(await writeAnchors({ db, clock: systemClock }, file), 2)
    const { valid } = readAnchors(file)
    const kinds = new Map<string, number>()
    for (let count = 0; count < tamperCount; count += 1) {
      const random = createRandom(20_261_122, count)
      const [kind, tamper] = random.pick(Object.entries(tampers))
      const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: rowCount })
      const { faults, inParts } = await trying(db, async (transaction) => {
        await tamper(transaction, { random, rows })
        const inParts = await verifyInParts(transaction, valid, random.integer(rowCount / 4, rowCount))
        return { inParts, ...(await verifyAudit(transaction, organizationId, valid)) }
      })
      ok(faults.length > 0, `${kind} number ${count} was not found`)
      ok(inParts.length > 0, `${kind} number ${count} was not found in parts`)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    equal(kinds.size, Object.keys(tampers).length)
    deepEqual((await verifyAudit(db, organizationId, valid)).faults, [])
  })

  test('only a restore that is signed with the secret lifts the anchors from before it', async () => {
    const file = newFile()
    const clock = createManualClock()
    await writeAnchors({ db, clock }, file)
    clock.advance(1_000)
    await recordRestore({ db, clock }, { file: 'forged.db', key: new Uint8Array(32).fill(1) })
    await recordRestore({ db, clock }, { file: 'unsigned.db', key: null })
    equal((await readAnchorsInForce(db, file)).valid.length, 2)
    await recordRestore({ db, clock }, { file: 'older.db', key: file.key })
    deepEqual((await readAnchorsInForce(db, file)).valid, [])
    equal(await writeAnchors({ db, clock }, file), 3)
    equal((await readAnchorsInForce(db, file)).valid.length, 3)
  })

  test('a chain that nobody has touched is so in parts of any size, each row of it', async () => {
    for (const rowsMax of [1, 3, 7, rowCount - 1, rowCount, rowCount + 1]) {
      let after: ChainPosition | null = null
      const seen: number[] = []
      for (;;) {
        const { rows, faults, through, isComplete } = await verifyAuditPart(db, organizationId, {
          anchors: [],
          after,
          rowsMax,
        })
        deepEqual(faults, [])
        ok(rows <= rowsMax)
        seen.push(through?.sequence ?? 0)
        if (isComplete) break
        after = through
      }
      equal(seen.at(-1), rowCount)
    }
  })

  test('the end of a part of the audit is an anchor', async () => {
    const { through } = await verifyAuditPart(db, organizationId, { anchors: [], after: null, rowsMax: 30 })
    equal(through?.sequence, 30)
    const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: rowCount })
    const check = (forged: readonly AuditTable[]) =>
      trying(db, async (transaction) => {
        await rewrite(transaction, forged)
        const whole = await verifyAudit(transaction, organizationId, [])
        const part = await verifyAuditPart(transaction, organizationId, { anchors: [], after: through, rowsMax: 100 })
        return [whole.faults, part.faults.map(({ kind }) => kind)]
      })
    const edited = rows.map((row, index) => (index === 3 ? { ...row, actor: 'mem_forged' } : row))
    deepEqual(await check(edited), [[], ['rewritten']])
    deepEqual(await check(rows.slice(0, 20)), [[], ['shortened']])
    deepEqual(await check(rows), [[], []])
  })

  async function verifyInParts(on: Database, anchors: readonly Anchor[], rowsMax: number): Promise<AuditFault[]> {
    const found: AuditFault[] = []
    let after: ChainPosition | null = null
    for (;;) {
      const part = await verifyAuditPart(on, organizationId, { anchors, after, rowsMax })
      found.push(...part.faults)
      if (part.isComplete) return found
      after = part.through
    }
  }

  test('audit rows that were cut off or written anew are found by an anchor', async () => {
    const file = newFile()
    await writeAnchors({ db, clock: systemClock }, file)
    const { valid } = readAnchors(file)
    const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: rowCount })
    const context = { random: createRandom(1), rows }
    for (const tamper of [tampers.shortenedWithEnd, tampers.editedThenRehashed, tampers.everythingDeleted]) {
      const find = (anchors: readonly Anchor[]) =>
        trying(db, async (transaction) => {
          await tamper(transaction, context)
          return verifyAudit(transaction, organizationId, anchors)
        })
      ok((await find(valid)).faults.length > 0)
      deepEqual((await find([])).faults, [], 'without an anchor nothing could tell')
    }
  })

  test('an anchor is written once for each end, and only what is signed counts', async () => {
    const file = newFile()
    const parts = { db, clock: systemClock }
    equal(await writeAnchors(parts, file, (id) => id === neighbour), 1)
    equal(await writeAnchors(parts, file), 1)
    equal(await writeAnchors(parts, file), 0)
    await record(organizationId, 'one more')
    appendFileSync(file.path, '{"torn')
    equal(await writeAnchors(parts, file), 1)
    const text = readFileSync(file.path, 'utf8')
    deepEqual(readAnchors(file).damagedLines, [3])
    equal(readAnchors(file).valid.length, 3)
    equal(readAnchors({ ...file, key: new Uint8Array(32).fill(1) }).valid.length, 0)
    writeFileSync(file.path, text.replace(`"sequence":${rowCount}`, `"sequence":${rowCount - 1}`))
    deepEqual(readAnchors(file).damagedLines, [2, 3])
  })
})

/** Does something to the database and undoes it. */
async function trying<Result>(
  db: Database,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  let result: { readonly value: Result } | null = null
  const undo = new Error('undo')
  await db
    .transaction()
    .execute(async (transaction) => {
      result = { value: await work(transaction) }
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return (result as unknown as { readonly value: Result }).value
}

type Context = { readonly random: Random; readonly rows: readonly AuditTable[] }
type Tamper = (db: Database, context: Context) => Promise<void>

const columns = [
  'id',
  'at',
  'organization_id',
  'actor',
  'action',
  'target',
  'before',
  'after',
  'address',
  'request_id',
  'sequence',
  'previous_hash',
  'hash',
] as const

function other(random: Random, column: (typeof columns)[number], row: AuditTable): string | number | null {
  if (column === 'organization_id') return neighbour
  if (column === 'at') return row.at + random.pick([-1, 1, 86_400_000])
  if (column === 'sequence') return random.pick([null, 0, -5, rowCount + 1, rowCount + 1_000])
  const value = row[column]
  if (value === null) return random.pick(['', 'null', 'x'])
  const place = random.integer(0, value.length)
  return random.pick([`${value.slice(0, place)}~${value.slice(place)}`, '', ...(isOptional(column) ? [null] : [])])
}

function isOptional(column: string): boolean {
  return ['before', 'after', 'address', 'request_id', 'previous_hash', 'hash'].includes(column)
}

const tampers = {
  async edited(db, { random, rows }) {
    const row = random.pick(rows)
    // A row that moved to a place that the neighbour's chain has already would be refused by the database.
    const column = random.pick(columns)
    if (column === 'organization_id') await set(db, row, { organization_id: neighbour, sequence: 1_000 })
    else await set(db, row, { [column]: other(random, column, row) })
  },
  async editedAndRehashed(db, { random, rows }) {
    const row = { ...random.pick(rows), target: 'forged' }
    await set(db, row, { target: row.target, hash: hashOf(row) })
  },
  async editedThenRehashed(db, { random, rows }) {
    const place = random.integer(0, rows.length - 1)
    await rewrite(
      db,
      rows.map((row, index) => (index === place ? { ...row, actor: 'mem_forged' } : row)),
    )
  },
  async deleted(db, { random, rows }) {
    const from = random.integer(0, rows.length - 2)
    await remove(db, rows.slice(from, random.integer(from + 1, rows.length - 1)))
  },
  async deletedAndClosed(db, { random, rows }) {
    const place = random.integer(0, rows.length - 1)
    await remove(db, rows)
    await insert(
      db,
      rows.filter((_, index) => index !== place).map((row, index) => ({ ...row, sequence: index + 1 })),
    )
  },
  async deletedThenRehashed(db, { random, rows }) {
    const place = random.integer(0, rows.length - 1)
    await rewrite(
      db,
      rows.filter((_, index) => index !== place),
    )
  },
  async reordered(db, { random, rows }) {
    const [one, two] = pickTwo(random, rows)
    await remove(db, [one, two])
    await insert(db, [
      { ...one, sequence: two.sequence },
      { ...two, sequence: one.sequence },
    ])
  },
  async reorderedContents(db, { random, rows }) {
    const [one, two] = pickTwo(random, rows)
    const linkOf = ({ sequence, previous_hash, hash }: AuditTable) => ({ sequence, previous_hash, hash })
    await remove(db, [one, two])
    await insert(db, [
      { ...one, ...linkOf(two) },
      { ...two, ...linkOf(one) },
    ])
  },
  async reorderedThenRehashed(db, { random, rows }) {
    const [one, two] = pickTwo(random, rows)
    await rewrite(
      db,
      rows.map((row) => (row === one ? two : row === two ? one : row)),
    )
  },
  async inserted(db, { random, rows }) {
    const place = random.integer(0, rows.length)
    const moved = rows.map((row, index) => (index < place ? row : { ...row, sequence: index + 2 }))
    const previous_hash = rows[place - 1]?.hash ?? chainStart
    const row = { ...random.pick(rows), id: 'audit_forged', sequence: place + 1, previous_hash }
    await remove(db, rows)
    await insert(db, [...moved, { ...row, hash: hashOf(row) }])
  },
  async insertedWithoutPlace(db, { random, rows }) {
    await insert(db, [{ ...random.pick(rows), id: 'audit_forged', sequence: random.pick([null, 0, -1]) }])
  },
  async insertedThenRehashed(db, { random, rows }) {
    const place = random.integer(0, rows.length - 1)
    await rewrite(db, rows.toSpliced(place, 0, { ...random.pick(rows), id: 'audit_forged' }))
  },
  async shortened(db, { random, rows }) {
    await remove(db, rows.slice(-random.integer(1, rows.length)))
  },
  async shortenedWithEnd(db, { random, rows }) {
    await rewrite(db, rows.slice(0, -random.integer(1, rows.length - 1)))
  },
  async everythingDeleted(db, { rows }) {
    await remove(db, rows)
    await db.deleteFrom('audit_chains').where('organization_id', '=', organizationId).execute()
  },
  async endEdited(db, { random }) {
    const columns = random.pick([
      { sequence: rowCount - 1 },
      { sequence: rowCount + 1 },
      { hash: 'x' },
      { sequence: 0 },
    ])
    await db.updateTable('audit_chains').set(columns).where('organization_id', '=', organizationId).execute()
  },
} satisfies Record<string, Tamper>

function pickTwo(random: Random, rows: readonly AuditTable[]): readonly [AuditTable, AuditTable] {
  const first = random.integer(0, rows.length - 1)
  const second = (first + random.integer(1, rows.length - 1)) % rows.length
  return [rows[first]!, rows[second]!]
}

function hashOf(row: AuditTable): string {
  return hashAuditRow(row, { sequence: row.sequence ?? 0, previous_hash: row.previous_hash ?? '' })
}

async function set(db: Database, { id }: AuditTable, values: Partial<AuditTable>): Promise<void> {
  await db.updateTable('audit').set(values).where('id', '=', id).execute()
}

async function remove(db: Database, rows: readonly AuditTable[]): Promise<void> {
  const ids = rows.map(({ id }) => id)
  await db.deleteFrom('audit').where('id', 'in', ids).execute()
}

async function insert(db: Database, rows: readonly AuditTable[]): Promise<void> {
  await db.insertInto('audit').values(rows).execute()
}

/** Writes the whole chain anew, and its end with it, as someone with the program at hand would. */
async function rewrite(db: Database, rows: readonly AuditTable[]): Promise<void> {
  let previous_hash = chainStart
  const forged = rows.map((row, index) => {
    const linked = { ...row, sequence: index + 1, previous_hash }
    previous_hash = hashOf(linked)
    return { ...linked, hash: previous_hash }
  })
  await db.deleteFrom('audit').where('organization_id', '=', organizationId).execute()
  await insert(db, forged)
  const end = { sequence: forged.length, hash: previous_hash }
  await db.updateTable('audit_chains').set(end).where('organization_id', '=', organizationId).execute()
}
