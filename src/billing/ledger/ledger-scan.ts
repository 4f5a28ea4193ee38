import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { conditionsOf, passOver, wholeRequestId, type Indexed, type LedgerFilter } from './ledger-filter.ts'

/** The position of a row in the list, newest first. */
export type LedgerCursor = { readonly at: number; readonly sequence: number }

/** Rows behind the one position, up to the other and with it; null is the newest or the oldest of all. */
export type LedgerSpan = { readonly after: LedgerCursor | null; readonly upTo: LedgerCursor | null }

/** How rows that match are found: in the order of an index, among whose rows the others are passed over. */
export type LedgerScan = {
  /** What the index finds; several are put together in the order of the whole. */
  readonly leads: readonly RawBuilder<boolean>[]
  /** What each row of the index is looked at for. Where there is anything, how many are looked at is not known before. */
  readonly rest: readonly RawBuilder<boolean>[]
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** How much is looked through: each piece is a statement, between which those of others have their turn. */
export type ScanBounds = { readonly rowsPerPiece: number; readonly piecesMax: number }

/** SQLite puts no more than 500 queries together. */
const mergedProjectsMax = 100

/** Rows are found by one index alone; what it does not know is left to be looked at. */
export function planScan(db: Database, filter: LedgerFilter): LedgerScan {
  const { organizationId, fromMs = null, toMs = null, requestIdStart } = filter
  const inOrganization = sql<boolean>`organization_id = ${organizationId}`
  if (requestIdStart !== undefined && wholeRequestId.test(requestIdStart)) {
    const all = [inOrganization, ...passOver(filter), ...conditionsOf(db, organizationId, filter)]
    const lead = sql<boolean>`${sql.join(all, sql` and `)}`
    return { leads: [lead], rest: [], fromMs, toMs }
  }
  const { leads, left } = leadOf(filter)
  return {
    leads: leads.map((lead) => (lead === null ? inOrganization : sql<boolean>`${inOrganization} and ${lead}`)),
    rest: [...passOver(left), ...conditionsOf(db, organizationId, filter)],
    fromMs,
    toMs,
  }
}

/** The filter whose index leaves the fewest rows, and the other ones. */
function leadOf(filter: Indexed): {
  readonly leads: readonly (RawBuilder<boolean> | null)[]
  readonly left: Indexed
} {
  const { apiKeyId, outcome, projectIds, model } = filter
  if (apiKeyId !== undefined) return { leads: [sql`api_key_id = ${apiKeyId}`], left: omit(filter, 'apiKeyId') }
  if (outcome !== undefined && outcome !== 'finished') {
    // It stands in the text, since an index that has only some of the outcomes is of use only where it is known.
    return { leads: [sql`outcome = ${sql.lit(outcome)}`], left: omit(filter, 'outcome') }
  }
  // The newest rows of one project are found at once; those of several would be looked for among all of the organization.
  if (projectIds !== undefined && projectIds.length <= mergedProjectsMax) {
    return { leads: projectIds.map((id) => sql`project_id = ${id}`), left: omit(filter, 'projectIds') }
  }
  if (model !== undefined) return { leads: [sql`model = ${model}`], left: omit(filter, 'model') }
  return { leads: [null], left: filter }
}

function omit(filter: Indexed, name: keyof Indexed): Indexed {
  const { [name]: _, ...left } = filter
  return left
}

/** Matching rows of a part of the ledger, of each lead for itself. */
export function selectSpans(db: Database, { leads, rest, ...times }: LedgerScan, span: LedgerSpan) {
  const bounds = boundsOf(times, span)
  return leads.map((lead) => {
    let query = db.selectFrom('ledger').where(lead)
    for (const condition of [...bounds, ...rest]) query = query.where(condition)
    return query
  })
}

/** One bound to each side: of two, a planner may take the wider one for where to begin or to end. */
function boundsOf({ fromMs, toMs }: Pick<LedgerScan, 'fromMs' | 'toMs'>, { after, upTo }: LedgerSpan) {
  const bounds: RawBuilder<boolean>[] = []
  if (after !== null && (toMs === null || after.at < toMs)) {
    bounds.push(sql`(at, sequence) < (${after.at}, ${after.sequence})`)
  } else if (toMs !== null) bounds.push(sql`at < ${toMs}`)
  if (upTo !== null) bounds.push(sql`(at, sequence) >= (${upTo.at}, ${upTo.sequence})`)
  else if (fromMs !== null) bounds.push(sql`at >= ${fromMs}`)
  return bounds
}

/**
 * Rows of several leads in the order of the whole, at most `limit` of them.
 *
 * SQLite reads each part only as far as it is needed. PostgreSQL would read and sort all of them: it goes by an index where
 * a part says its own order and where it ends.
 */
export function inOrder<Row>(
  db: Database,
  parts: readonly SelectQueryBuilder<Tables, 'ledger', Row>[],
  limit: number,
): SelectQueryBuilder<Tables, 'ledger', Row> | null {
  const [first, ...others] = isPostgres(db) && parts.length > 1 ? parts.map((part) => bounded(db, part, limit)) : parts
  if (first === undefined) return null
  const all = others.reduce((sum, part) => sum.unionAll(part), first)
  return all.orderBy('at', 'desc').orderBy('sequence', 'desc').limit(limit)
}

function bounded<Row>(db: Database, part: SelectQueryBuilder<Tables, 'ledger', Row>, limit: number): typeof part {
  const inside = part.orderBy('at', 'desc').orderBy('sequence', 'desc').limit(limit).as('ledger')
  // The same rows again, by the same name.
  return db.selectFrom(inside).selectAll() as unknown as typeof part
}

/**
 * The pieces that a scan goes through, the newest first, at most `piecesMax` of them. The last one of all goes to the
 * oldest row, so that its `upTo` is null.
 */
export async function* piecesOf(
  db: Database,
  scan: LedgerScan,
  { after: start, rowsPerPiece, piecesMax }: ScanBounds & Pick<LedgerSpan, 'after'>,
): AsyncGenerator<LedgerSpan> {
  let after = start
  for (let pieces = 0; pieces < piecesMax; pieces++) {
    const upTo = await findPieceEnd(db, scan, after, rowsPerPiece)
    yield { after, upTo }
    if (upTo === null) return
    after = upTo
  }
}

/** The last row of the piece that begins there, by the index alone; null where fewer rows are left than it has. */
async function findPieceEnd(
  db: Database,
  scan: LedgerScan,
  after: LedgerCursor | null,
  rows: number,
): Promise<LedgerCursor | null> {
  const parts = selectSpans(db, { ...scan, rest: [] }, { after, upTo: null })
  const all = inOrder(
    db,
    parts.map((part) => part.select(['at', 'sequence'])),
    rows,
  )
  const end = await all
    ?.offset(rows - 1)
    .limit(1)
    .executeTakeFirst()
  return end ?? null
}
