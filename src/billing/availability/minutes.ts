import { sql, type RawBuilder, type Transaction } from 'kysely'
import { callerFaults } from '../../core/refusal.ts'
import type { Tables } from '../../db/tables.ts'
import { minuteMs } from '../refusals/minute.ts'
import { addedTo, bucketOfLedger } from '../usage/usage-columns.ts'

/** Rows that count at all: a failure that its caller has caused says nothing about the service. */
const isValid = sql<boolean>`
  kind = 'charge' and not (outcome = 'failed' and coalesce(reason, '') in (${sql.join(callerFaults)}))`

/**
 * The wait for a first token that was agreed at the time of a row; null where none was. What an organization has agreed
 * for itself stands above what is promised to everyone.
 */
const agreedMs = sql<number | null>`(
  select first_token_ms from sla_objectives
  where sla_objectives.organization_id in (ledger.organization_id, '') and effective_at <= ledger.at
  order by sla_objectives.organization_id desc, effective_at desc, created_at desc limit 1)`

/** Who leaves without a token after the agreed time has waited in vain as much as who gets it late. */
const isSlow = sql<boolean>`(outcome <> 'failed' and coalesce(first_token_ms, duration_ms) > ${agreedMs})`
const isBad = sql<boolean>`(outcome = 'failed' or ${isSlow})`

/** Adds ledger rows to the minutes of availability; the caller makes sure that it is done once for each. */
export async function addToMinutes(
  transaction: Transaction<Tables>,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<void> {
  await transaction
    .insertInto('availability_minutes')
    .columns(['organization_id', 'at', 'model', 'valid', 'bad', 'slow', 'first_bad_at', 'last_bad_at'])
    .expression(minutesOfLedger(transaction).where('sequence', '>', after).where('sequence', '<=', upTo))
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'at', 'model']).doUpdateSet({
        ...addedTo('availability_minutes', ['valid', 'bad', 'slow']),
        first_bad_at: chooseTime('<', 'first_bad_at'),
        last_bad_at: chooseTime('>', 'last_bad_at'),
      }),
    )
    .execute()
}

/** The minutes as the ledger's rows make them. */
export function minutesOfLedger(db: Pick<Transaction<Tables>, 'selectFrom'>) {
  const minute = bucketOfLedger(minuteMs)
  return db
    .selectFrom('ledger')
    .select(['organization_id', minute.as('minute'), 'model'])
    .select([
      sql<number>`count(*)`.as('valid'),
      countOf(isBad).as('bad'),
      countOf(isSlow).as('slow'),
      sql<number | null>`min(case when ${isBad} then at end)`.as('first_bad_at'),
      sql<number | null>`max(case when ${isBad} then at end)`.as('last_bad_at'),
    ])
    .where(isValid)
    .groupBy(['organization_id', minute, 'model'])
}

/**
 * How many rows of the ledger there are of each organization, and how many of them have failed; one that is slow has not.
 */
export function failedOfLedger(db: Pick<Transaction<Tables>, 'selectFrom'>, at: RawBuilder<number>) {
  return db
    .selectFrom('ledger')
    .select(['organization_id', at.as('known_at')])
    .select([sql<number>`count(*)`.as('requests'), countOf(sql<boolean>`outcome = 'failed'`).as('failed')])
    .where(isValid)
    .groupBy('organization_id')
}

function countOf(condition: RawBuilder<boolean>): RawBuilder<number> {
  return sql<number>`cast(sum(case when ${condition} then 1 else 0 end) as bigint)`
}

/** Of two times the earlier or the later one; one that is not there gives way. */
function chooseTime(than: '<' | '>', column: 'first_bad_at' | 'last_bad_at'): RawBuilder<number | null> {
  const [old, added] = [sql.ref(`availability_minutes.${column}`), sql.ref(`excluded.${column}`)]
  return sql`case when ${old} is null or ${added} ${sql.raw(than)} ${old} then ${added} else ${old} end`
}
