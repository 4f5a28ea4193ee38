import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import type { Database } from '../../db/database.ts'
import { countByHour } from './count-by-hour.ts'
import type { LedgerFilter } from './ledger-filter.ts'
import type { LedgerCursor } from './ledger-scan.ts'
import { listLedger, type LedgerPage } from './list-ledger.ts'

const operator = { kind: 'operator' } as const
const hourMs = 3_600_000
const first = 1_800_000_000_000
const bounds = { rowsPerPiece: 5, piecesMax: 3 }

const rows = Array.from({ length: 120 }, (_, number) => ({
  ...ledgerRow(number),
  // Several rows of a moment are told apart by their order in the ledger.
  at: first + Math.floor(number / 7) * hourMs,
  project_id: `proj_${number % 4}` as const,
  api_key_id: `key_${number % 3}` as const,
  model: `model_${number % 2}`,
  outcome: number % 5 === 0 ? ('failed' as const) : ('finished' as const),
  reason: number % 11 === 0 ? 'rare' : null,
  client_request_id: number === 3 ? 'the only one' : null,
}))

type Row = (typeof rows)[number]
const searches: readonly (readonly [string, Partial<LedgerFilter>, (row: Row) => boolean])[] = [
  ['a reason', { reason: 'rare' }, ({ reason }) => reason === 'rare'],
  ['the only one of its kind', { clientRequestId: 'the only one' }, (row) => row.client_request_id !== null],
  ['what nothing is', { protocol: 'none' }, () => false],
  [
    'a reason in some projects',
    { reason: 'rare', projectIds: ['proj_1', 'proj_2'] },
    (row) => row.reason === 'rare' && ['proj_1', 'proj_2'].includes(row.project_id),
  ],
  [
    'a key’s requests in a project',
    { apiKeyId: 'key_1', projectIds: ['proj_2'] },
    (row) => row.api_key_id === 'key_1' && row.project_id === 'proj_2',
  ],
  [
    'failed ones of a model',
    { model: 'model_0', outcome: 'failed' },
    (row) => row.model === 'model_0' && row.outcome === 'failed',
  ],
  [
    'a reason within a time',
    { reason: 'rare', fromMs: first + 2 * hourMs, toMs: first + 12 * hourMs },
    (row) => row.reason === 'rare' && row.at >= first + 2 * hourMs && row.at < first + 12 * hourMs,
  ],
]

async function readAll(db: Database, filter: Partial<LedgerFilter>, onPage: () => Promise<void>) {
  const pages: LedgerPage[] = []
  let after: LedgerCursor | null = null
  do {
    const search = { organizationId: 'org_1', ...filter, after, limit: 4 } as const
    const page: LedgerPage = await listLedger(db, operator, search, bounds)
    pages.push(page)
    after = page.next
    await onPage()
  } while (after !== null)
  return { pages, ids: pages.flatMap((page) => page.rows.map((row) => row.request_id)) }
}

onEachDatabase(({ open }) => {
  for (const [name, filter, isWanted] of searches) {
    test(`${name} is found in pieces, each row once and in order, while others are added`, async () => {
      const db = await open()
      await db.insertInto('ledger').values(rows).execute()
      let added = 1_000
      const { pages, ids } = await readAll(db, filter, async () => {
        const late = { ...ledgerRow(added++), at: first + 100 * hourMs, reason: 'rare' }
        await db.insertInto('ledger').values(late).execute()
      })
      deepEqual(
        ids,
        rows
          .filter(isWanted)
          .map((row) => row.request_id)
          .toReversed(),
      )
      for (const page of pages.slice(0, -1)) equal(page.rows.length < 4, page.searchedToMs !== null)
      equal(pages.at(-1)?.searchedToMs, null)
      await db.destroy()
    })
  }

  test('a page that finds nothing says how far it looked, and goes on from there', async () => {
    const db = await open()
    await db.insertInto('ledger').values(rows).execute()
    const search = { organizationId: 'org_1', clientRequestId: 'the only one', after: null, limit: 4 } as const
    const page = await listLedger(db, operator, search, bounds)
    // Three pieces of five rows: the last that was looked at is the fifteenth from the newest.
    const last = rows.at(-15)
    deepEqual([page.rows.length, page.searchedToMs, page.next?.at], [0, last?.at, last?.at])
    equal((await listLedger(db, operator, { ...search, after: page.next }, bounds)).searchedToMs, rows.at(-30)?.at)
    await db.destroy()
  })

  test('counts of pieces are those of the whole, and say from when on they are where it has too many rows', async () => {
    const db = await open()
    await db.insertInto('ledger').values(rows).execute()
    for (const filter of [{}, { reason: 'rare' }, { projectIds: ['proj_1', 'proj_3'] as const, model: 'model_1' }]) {
      const wanted = { organizationId: 'org_1', ...filter } as const
      const whole = await countByHour(db, operator, wanted)
      const inPieces = await countByHour(db, operator, wanted, { rowsPerPiece: 5, piecesMax: 100 })
      const inOrder = ({ hours }: typeof whole) =>
        hours.toSorted((one, other) => one.hourMs - other.hourMs || one.outcome.localeCompare(other.outcome))
      ok(whole.hours.length > 0)
      deepEqual(inOrder(inPieces), inOrder(whole))
      deepEqual([whole.countedFromMs, inPieces.countedFromMs], [null, null])
    }
    const short = await countByHour(db, operator, { organizationId: 'org_1' }, bounds)
    equal(
      short.hours.reduce((sum, { requests }) => sum + requests, 0),
      15,
    )
    equal(short.countedFromMs, (rows.at(-15)?.at ?? 0) + 1)
    await db.destroy()
  })
})
