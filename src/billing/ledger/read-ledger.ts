import type { Selectable } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerTable } from '../../db/tables/billing.ts'

export type LedgerLine = Selectable<LedgerTable>

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
export async function* readLedger(db: Database, range: LedgerRange = {}): AsyncGenerator<readonly LedgerLine[]> {
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
): Promise<LedgerLine[]> {
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
