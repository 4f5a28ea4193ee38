import { type Selectable, sql } from 'kysely'
import type { OrganizationId, RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerTable } from '../../db/tables/billing.ts'
import type { CacheReport, Usage } from '../../core/generation.ts'
import { conditionsOf, passOver, type LedgerFilter } from './ledger-filter.ts'
import { fromTokenColumns } from './token-columns.ts'
import { narrowProjects, notFound, requirePermission, type Target } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'

export type LedgerRow = Selectable<LedgerTable>

/** Wide enough to be fast, and small enough to be forgotten at once. */
const sequencesAtOnce = 2_000

export type LedgerRange = {
  /** Null is every organization, for the operator. */
  readonly organizationId?: OrganizationId | null
  readonly fromMs?: number
  readonly toMs?: number
  readonly afterSequence?: number
  readonly toSequence?: number
}

/** Reads the ledger in its order, in pages, so that memory does not grow with it. It goes to the row that was last when it began. */
export async function* readLedger(db: Database, range: LedgerRange = {}): AsyncGenerator<readonly LedgerRow[]> {
  const ends = await db
    .selectFrom('ledger')
    .select(({ fn }) => [fn.min('sequence').as('first'), fn.max('sequence').as('last')])
    .executeTakeFirst()
  const last = Math.min(ends?.last ?? 0, range.toSequence ?? Infinity)
  let after = Math.max((ends?.first ?? 1) - 1, range.afterSequence ?? 0)
  for (; after < last; after += sequencesAtOnce) {
    const page = await readPage(db, range, { after, upTo: Math.min(last, after + sequencesAtOnce) })
    if (page.length > 0) yield page
  }
}

function readPage(
  db: Database,
  { organizationId = null, fromMs, toMs }: LedgerRange,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<LedgerRow[]> {
  let query = db
    .selectFrom('ledger')
    .selectAll()
    .where('sequence', '>', after)
    .where('sequence', '<=', upTo)
    .orderBy('sequence')
  if (organizationId !== null) query = query.where('organization_id', '=', organizationId)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  return query.execute()
}

export type RecordedUsage = {
  readonly model: string
  readonly usage: Usage
  /** Null where the request never reached a slot. */
  readonly cache: CacheReport | null
  /** Whether a replica of a pool answered. */
  readonly isReplicas: boolean
}

export async function findRecordedUsage(db: Database, requestId: RequestId): Promise<RecordedUsage | null> {
  const row = await db
    .selectFrom('ledger')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('kind', '=', 'charge')
    .executeTakeFirst()
  if (row === undefined) return null
  const { cache_source: source, cache_differs_at: atToken, cache_differs_in: part } = row
  const differs = atToken === null ? null : { atToken, in: part ?? '' }
  return {
    model: row.model,
    usage: fromTokenColumns(row),
    cache: source === null ? null : { source, reusedTokens: row.input_cache_read, differs },
    isReplicas: row.replica !== null,
  }
}

type SettledSearch = LedgerFilter & {
  /** Rows of the ledger behind this one, up to that one. */
  readonly afterSequence: number
  readonly toSequence: number
  readonly limit: number
}

/** What was added to an organization's rows, as far as the principal may see it: the newest, newest first, and how many. */
export async function readAdded(
  db: Database,
  principal: Principal,
  search: SettledSearch,
): Promise<{ readonly rows: readonly LedgerRow[]; readonly count: number }> {
  const projectIds = narrowProjects(principal, 'requests:read', search)
  if (projectIds?.length === 0) return { rows: [], count: 0 }
  const { organizationId, fromMs, toMs } = search
  const seen = { ...search, ...(projectIds !== undefined && { projectIds }) }
  let query = db
    .selectFrom('ledger')
    .where('sequence', '>', search.afterSequence)
    .where('sequence', '<=', search.toSequence)
    // No index is to be taken for these: the few rows of a second are found by their sequence.
    .where(sql<boolean>`organization_id || '' = ${organizationId}`)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  for (const condition of [...passOver(seen), ...conditionsOf(db, organizationId, seen)]) query = query.where(condition)
  const rows = await query.selectAll().orderBy('sequence', 'desc').limit(search.limit).execute()
  if (rows.length < search.limit) return { rows, count: rows.length }
  const { count } = await query.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow()
  return { rows, count: Number(count) }
}

/** A request's charge and, where there is one, its reversal. Throws `not-found` for one that the principal may not see. */
export async function readRequestRows(db: Database, principal: Principal, requestId: RequestId): Promise<LedgerRow[]> {
  const lines = await rowsOfRequest(db, requestId)
  const [line] = lines
  if (line === undefined) throw notFound()
  requirePermission(principal, 'requests:read', targetOf(line))
  return lines
}

/** To what a permission is asked for that reaches a request; null where there is none. */
export async function findRequestTarget(db: Database, requestId: RequestId): Promise<Target | null> {
  const [line] = await rowsOfRequest(db, requestId)
  return line === undefined ? null : targetOf(line)
}

function targetOf({ organization_id: organizationId, project_id: projectId }: LedgerRow): Target {
  return { organizationId, projectId }
}

function rowsOfRequest(db: Database, requestId: RequestId): Promise<LedgerRow[]> {
  return db.selectFrom('ledger').selectAll().where('request_id', '=', requestId).orderBy('sequence').execute()
}
