import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import type { AttributedHourTable } from '../../db/tables/billing.ts'
import type { tokenColumns } from '../ledger/token-columns.ts'
import { lastSettled } from '../usage/last-settled.ts'
import { addedTo, dayMs, hourMs, summedColumns, type SummedColumn } from '../usage/usage-columns.ts'

const rowsAtOnce = 500
/** Rows of the sums have 21 values, and a statement of SQLite takes at most 32,766. */
const sumsAtOnce = 500

/** Of one organization and day so many end users, and values of one tag, are told apart; the others are one. */
export const valuesPerDayMax = 1_000
/** Stands for all that came when there were so many already. */
export const otherValues = '(other)'

/** Of which kind a value is: an end user, or the value of a tag. */
export type Dimension = 'user' | `tag:${string}`

type LedgerPart = Pick<
  Tables['ledger'],
  | 'organization_id'
  | 'project_id'
  | 'api_key_id'
  | 'model'
  | 'kind'
  | 'outcome'
  | 'price_id'
  | 'cost_micros'
  | 'cost_rest_picos'
  | (typeof tokenColumns)[number]
> & { readonly at: number; readonly end_user: string | null; readonly tags: string | null }

/**
 * Adds the ledger's rows to the sums by end user and tag, in order, once each, as `rollUp` does for all others.
 *
 * It has come as far as its own mark says: a gateway of the version before these sums moves the other one alone.
 */
export async function rollUpAttributions(db: Database, pause: () => Promise<void>): Promise<void> {
  const last = await lastSettled(db)
  while (await rollUpBatch(db, last)) await pause()
}

function rollUpBatch(db: Database, last: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const select = transaction.selectFrom('attribution_progress').select('rolled_up_to')
    const { rolled_up_to: after } = await (isPostgres(db) ? select.forUpdate() : select).executeTakeFirstOrThrow()
    const upTo = Math.min(last, after + rowsAtOnce)
    if (upTo <= after) return false
    const rows = await transaction
      .selectFrom('ledger')
      .selectAll()
      .where('sequence', '>', after)
      .where('sequence', '<=', upTo)
      .where(({ or, eb }) => or([eb('end_user', 'is not', null), eb('tags', 'is not', null)]))
      .execute()
    await addRows(transaction, rows)
    await transaction.updateTable('attribution_progress').set({ rolled_up_to: upTo }).execute()
    return upTo < last
  })
}

async function addRows(transaction: Transaction<Tables>, rows: readonly LedgerPart[]): Promise<void> {
  const parts = rows.flatMap((row) => dimensionsOf(row).map(([dimension, value]) => ({ row, dimension, value })))
  const byDay = Map.groupBy(parts, ({ row, dimension }) => {
    return JSON.stringify([row.organization_id, dimension, row.at - (row.at % dayMs)])
  })
  const added = new Map<string, AttributedHourTable>()
  for (const [key, own] of byDay) {
    const [organizationId, dimension, day] = JSON.parse(key) as [OrganizationId, Dimension, number]
    const known = await keepValues(transaction, { organizationId, dimension, day }, own)
    for (const { row, value } of own) {
      const shown = known.has(value) ? value : otherValues
      const scope = { dimension, value: shown, at: row.at - (row.at % hourMs) }
      addTo(added, row, scope)
    }
  }
  const sums = [...added.values()]
  for (let index = 0; index < sums.length; index += sumsAtOnce) {
    await addSums(transaction, sums.slice(index, index + sumsAtOnce))
  }
}

/** What a row is attributed to, of each kind. */
export function dimensionsOf({
  end_user: endUser,
  tags,
}: Pick<LedgerPart, 'end_user' | 'tags'>): [Dimension, string][] {
  const named = tags === null ? [] : Object.entries(JSON.parse(tags) as Readonly<Record<string, string>>)
  const ofTags = named.map(([key, value]): [Dimension, string] => [`tag:${key}`, value])
  return endUser === null ? ofTags : [['user', endUser], ...ofTags]
}

type Day = { readonly organizationId: OrganizationId; readonly dimension: Dimension; readonly day: number }

/** Which of these values are told apart on a day: those that were before, and new ones while there is room. */
async function keepValues(
  transaction: Transaction<Tables>,
  { organizationId, dimension, day }: Day,
  parts: readonly { readonly value: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await transaction
    .selectFrom('attribution_values')
    .select('value')
    .where('organization_id', '=', organizationId)
    .where('dimension', '=', dimension)
    .where('day', '=', day)
    .execute()
  const known = new Set(rows.map(({ value }) => value))
  const added: string[] = []
  for (const { value } of parts) {
    if (known.has(value) || known.size >= valuesPerDayMax) continue
    known.add(value)
    added.push(value)
  }
  if (added.length > 0) {
    const values = added.map((value) => ({ organization_id: organizationId, dimension, day, value }))
    await transaction.insertInto('attribution_values').values(values).execute()
  }
  return known
}

type Scope = Pick<AttributedHourTable, 'dimension' | 'value' | 'at'>

function addTo(added: Map<string, AttributedHourTable>, row: LedgerPart, scope: Scope): void {
  const { organization_id, project_id, api_key_id, model } = row
  const key = JSON.stringify([organization_id, ...Object.values(scope), project_id, api_key_id, model])
  const before = added.get(key)
  const counts = Object.fromEntries(
    summedColumns.map((column) => [column, (before?.[column] ?? 0) + countOf(row, column)]),
  ) as Record<SummedColumn, number>
  added.set(key, { organization_id, ...scope, project_id, api_key_id, model, ...counts })
}

/** How a row counts, as `sumsOfLedger` has it. */
function countOf(row: LedgerPart, column: SummedColumn): number {
  const isCharge = row.kind === 'charge'
  switch (column) {
    case 'requests':
      return Number(isCharge)
    case 'finished':
    case 'aborted':
    case 'failed':
      return Number(isCharge && row.outcome === column)
    case 'reversed':
      return Number(!isCharge)
    case 'unpriced':
      return Number(isCharge && row.price_id === null)
    default:
      return row[column] ?? 0
  }
}

async function addSums(transaction: Transaction<Tables>, sums: readonly AttributedHourTable[]): Promise<void> {
  await transaction
    .insertInto('attributed_hours')
    .values(sums)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'dimension', 'at', 'value', 'project_id', 'api_key_id', 'model'])
        .doUpdateSet(addedTo('attributed_hours', summedColumns)),
    )
    .execute()
}

/** Sums by end user and tag are kept no longer than the rows that they are of. */
export async function deleteOldAttributions(db: Database, beforeMs: number): Promise<void> {
  await db.deleteFrom('attributed_hours').where('at', '<', beforeMs).execute()
  await db.deleteFrom('attribution_values').where('day', '<', beforeMs).execute()
}
