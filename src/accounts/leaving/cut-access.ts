import type { Selectable, Transaction } from 'kysely'
import type { Fields } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { Tables } from '../../db/tables.ts'
import { endAgents } from '../agents/end-agents.ts'
import { findMadeThings } from './made-keys.ts'

type Cut = { readonly nowMs: number; readonly isFinal: boolean }

/**
 * Ends whatever lets a member in, in the transaction that suspends or removes them: sessions, the keys they own, the
 * management keys they made and their open invitations. What runs under the keys ends as soon as gateways hear of it.
 *
 * Returns what the audit shows, with the keys that they made for others: these stay, and somebody has to look at them.
 */
export async function cutAccess(
  transaction: Transaction<Tables>,
  member: Selectable<MemberTable>,
  { nowMs, isFinal }: Cut,
): Promise<Fields> {
  const made = await findMadeThings(transaction, member)
  const keys = await endOwnKeys(transaction, member, { nowMs, isFinal })
  const managementKeys = made.managementKeys.map(({ id }) => id)
  if (managementKeys.length > 0) {
    await transaction
      .updateTable('management_keys')
      .set(isFinal ? { revoked_at: nowMs } : { suspended_by: member.id })
      .where('organization_id', '=', member.organization_id)
      .where('id', 'in', managementKeys)
      .execute()
  }
  if (made.invitations.length > 0) {
    await transaction
      .updateTable('invitations')
      .set({ withdrawn_at: nowMs })
      .where('organization_id', '=', member.organization_id)
      .where('id', 'in', made.invitations)
      .execute()
  }
  if (isFinal) await forgetInDirectory(transaction, member)
  return {
    keys,
    management_keys: managementKeys,
    invitations: made.invitations,
    sessions: await endSessions(transaction, member),
    agents: await endAgents(transaction, { memberId: member.id, organizationId: member.organization_id }),
    keys_for_others: made.keysForOthers.map(({ id }) => id),
  }
}

/** Whom the directory makes again is somebody new. */
async function forgetInDirectory(transaction: Transaction<Tables>, member: Selectable<MemberTable>): Promise<void> {
  await transaction
    .deleteFrom('directory_users')
    .where('organization_id', '=', member.organization_id)
    .where('member_id', '=', member.id)
    .execute()
}

async function endOwnKeys(transaction: Transaction<Tables>, member: Selectable<MemberTable>, { nowMs, isFinal }: Cut) {
  const own = transaction
    .updateTable('api_keys')
    .set(isFinal ? { revoked_at: nowMs } : { disabled_at: nowMs, suspended_by: member.id })
    .where('organization_id', '=', member.organization_id)
    .where('owner_id', '=', member.id)
    .where('revoked_at', 'is', null)
  const chosen = isFinal ? own : own.where('disabled_at', 'is', null)
  const rows = await chosen.returning('id').execute()
  return rows.map(({ id }) => id)
}

/** A person has one session for all organizations, and signs in again to the others. */
async function endSessions(transaction: Transaction<Tables>, { user_id: userId }: Selectable<MemberTable>) {
  if (userId === null) return []
  const rows = await transaction.deleteFrom('sessions').where('user_id', '=', userId).returning('id').execute()
  return rows.map(({ id }) => id)
}

/** Gives back exactly the keys that were taken with the member's suspension. Returns what the audit shows. */
export async function giveBackAccess(
  transaction: Transaction<Tables>,
  member: Selectable<MemberTable>,
): Promise<Fields> {
  const keys = await transaction
    .updateTable('api_keys')
    .set({ disabled_at: null, suspended_by: null })
    .where('organization_id', '=', member.organization_id)
    .where('owner_id', '=', member.id)
    .where('suspended_by', '=', member.id)
    .returning('id')
    .execute()
  const managementKeys = await transaction
    .updateTable('management_keys')
    .set({ suspended_by: null })
    .where('organization_id', '=', member.organization_id)
    .where('suspended_by', '=', member.id)
    .returning('id')
    .execute()
  return { keys: keys.map(({ id }) => id), management_keys: managementKeys.map(({ id }) => id) }
}
