// What became known in a minute, whenever it happened: while the database is away requests go on, and are heard of when it is
// back. Whoever looks at what fails now looks here.

import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Tables } from '../../db/tables.ts'
import { minuteMs } from '../refusals/minute.ts'
import { addedTo, dayMs } from '../usage/usage-columns.ts'
import { failedOfLedger } from './minutes.ts'

/** What is older is no news: nobody can do anything about it any more. */
const newsMs = dayMs

/** Adds ledger rows to the minute in which they are found; the caller makes sure that it is done once for each. */
export async function addKnownRows(
  transaction: Transaction<Tables>,
  { after, upTo, nowMs }: { readonly after: number; readonly upTo: number; readonly nowMs: number },
): Promise<void> {
  const rows = failedOfLedger(transaction, sql<number>`cast(${minuteOf(nowMs)} as bigint)`)
    .where('sequence', '>', after)
    .where('sequence', '<=', upTo)
    .where('at', '>=', nowMs - newsMs)
    .orderBy('organization_id')
  await transaction
    .insertInto('known_minutes')
    .columns(['organization_id', 'at', 'requests', 'failed'])
    .expression(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'at']).doUpdateSet(added))
    .execute()
}

type Failed = { readonly organization_id: OrganizationId; readonly at: number; readonly requests: number }

/** Adds what has failed without a row in the ledger. */
export async function addKnownFailures(
  transaction: Transaction<Tables>,
  failures: readonly Failed[],
  nowMs: number,
): Promise<void> {
  const counts = new Map<OrganizationId, number>()
  for (const { organization_id, at, requests } of failures) {
    if (at >= nowMs - newsMs) counts.set(organization_id, (counts.get(organization_id) ?? 0) + requests)
  }
  if (counts.size === 0) return
  // In the order in which whoever else adds to the minute does so: nobody waits for anybody in a circle.
  const rows = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([organization_id, requests]) => {
      return { organization_id, at: minuteOf(nowMs), requests, failed: requests }
    })
  await transaction
    .insertInto('known_minutes')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'at']).doUpdateSet(added))
    .execute()
}

const added = addedTo('known_minutes', ['requests', 'failed'])

function minuteOf(nowMs: number): number {
  return nowMs - (nowMs % minuteMs)
}
