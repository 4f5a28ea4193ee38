import type { Transaction } from 'kysely'
import type { OrganizationId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

export type AuditedAction = {
  /** What is done, as `resource:verb`. */
  readonly action: string
  readonly organizationId: OrganizationId
  /** The id of the row that changes. */
  readonly target: string
}

/** Changes control-plane rows. The audit row is part of the same transaction: there is no change without its record. */
export function change<Result>(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  principal: Principal,
  { action, organizationId, target }: AuditedAction,
  write: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    const result = await write(transaction)
    await transaction
      .insertInto('audit')
      .values({
        id: `audit_${randomId()}`,
        at: clock.nowMs(),
        organization_id: organizationId,
        actor: principal.kind === 'operator' ? 'operator' : principal.apiKeyId,
        action,
        target,
      })
      .execute()
    return result
  })
}
