import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { AccountEntryTable } from '../../db/tables/invoices.ts'
import { randomId } from '../../lib/random-id.ts'

export type AccountEntry = {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly atMs: number
  /** Paid before, or charged (above zero) or spared (below zero) beside what was used. */
  readonly kind: AccountEntryTable['kind']
  readonly micros: number
  readonly reason: string
}

export type NewEntry = Pick<AccountEntry, 'organizationId' | 'kind' | 'micros' | 'reason'>

/** Adds to an organization's account; it stands on the invoice of this month. Nothing is changed or taken back, only set off. */
export async function addAccountEntry(
  parts: ChangeParts & { readonly currency: string },
  principal: Principal,
  wanted: NewEntry,
): Promise<AccountEntry> {
  const { organizationId, kind, micros, reason } = wanted
  requirePermission(principal, 'invoices:adjust', { organizationId })
  if (!Number.isSafeInteger(micros) || micros === 0 || (kind === 'prepayment' && micros < 0))
    throw invalidRequest(['micros'], 'value', 'A prepayment is above zero, and an adjustment is not zero.')
  const id = `entry_${randomId()}`
  const action = { action: `account-entries:${kind}`, organizationId, target: id }
  return change(parts, principal, action, async (transaction, note) => {
    const at = parts.clock.nowMs()
    await transaction
      .insertInto('account_entries')
      .values({ id, organization_id: organizationId, at, kind, micros, reason, currency: parts.currency })
      .execute()
    note(null, { kind, micros, currency: parts.currency, reason })
    return { ...wanted, id, atMs: at }
  })
}

/** From a moment up to another one, which is left out, the oldest first. */
export async function readAccountEntries(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Promise<readonly AccountEntry[]> {
  const rows = await db
    .selectFrom('account_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('at', '>=', fromMs)
    .where('at', '<', untilMs)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, at: atMs, kind, micros, reason }) => ({ id, organizationId, atMs, kind, micros, reason }))
}
