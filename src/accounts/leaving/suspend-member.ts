import type { Selectable, Transaction } from 'kysely'
import { conflict } from '../../core/error.ts'
import type { ApiKeyId, ManagementKeyId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { NoteFields } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import { cutAccess, giveBackAccess } from './cut-access.ts'
import { findMadeThings } from './made-keys.ts'
import { findMember, requireGrant, requireOwnerStays, type MemberReference } from '../members.ts'
import type { AccountsParts } from '../parts.ts'
import { readMember } from '../read-member.ts'

/**
 * Lets a member in nowhere, or in again. Their sessions end, and the keys they own and the management keys they made are
 * refused meanwhile: those that were in use come back with them, and no other that somebody has disabled for a reason of
 * its own.
 */
export async function setMemberSuspended(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
  isSuspended: boolean,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'members:update', { organizationId })
  const action = { action: isSuspended ? 'members:suspend' : 'members:restore', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const member = await findMember(transaction, reference)
    requireGrant(principal, member.role)
    if (isSuspended) await requireOwnerStays(transaction, member)
    if (!isSuspended) await requireDirectoryWord(transaction, member)
    await writeSuspension(transaction, member, { by: isSuspended ? 'manual' : null, nowMs: parts.clock.nowMs(), note })
  })
}

/** Whom their directory has switched off comes back by the directory alone. */
async function requireDirectoryWord(transaction: Transaction<Tables>, member: Selectable<MemberTable>): Promise<void> {
  const off = await transaction
    .selectFrom('directory_users')
    .select('member_id')
    .where('member_id', '=', member.id)
    .where('organization_id', '=', member.organization_id)
    .where('active', '=', 0)
    .executeTakeFirst()
  if (off === undefined) return
  throw conflict('The directory has switched this member off, and switches them on again.')
}

type Suspension = {
  /** Null lets the member in again. */
  readonly by: MemberTable['suspended_by']
  readonly nowMs: number
  readonly note: NoteFields
}

/** Cuts what lets a member in, or gives it back, in the transaction that notes it. */
export async function writeSuspension(
  transaction: Transaction<Tables>,
  member: Selectable<MemberTable>,
  { by, nowMs, note }: Suspension,
): Promise<void> {
  const suspended_at = by === null ? null : (member.suspended_at ?? nowMs)
  await transaction
    .updateTable('members')
    .set({ suspended_at, suspended_by: by })
    .where('id', '=', member.id)
    .where('organization_id', '=', member.organization_id)
    .execute()
  const keys =
    by === null
      ? await giveBackAccess(transaction, member)
      : await cutAccess(transaction, member, { nowMs, isFinal: false })
  note({ suspended_at: member.suspended_at }, { suspended_at, ...keys })
}

export type Consequences = {
  readonly keysOwned: { readonly id: ApiKeyId; readonly name: string }[]
  readonly keysMadeForOthers: { readonly id: ApiKeyId; readonly name: string }[]
  readonly managementKeysMade: { readonly id: ManagementKeyId; readonly name: string }[]
  readonly invitationsMade: number
  /** Of their coding agents, those that are signed in here. */
  readonly agents: number
  readonly sessions: number
}

/** What hangs on a member: what ends with them, and what they leave behind. */
export async function readConsequences(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
): Promise<Consequences> {
  const { id } = await readMember(parts, principal, reference)
  const { db, clock } = parts
  const { user_id } = await db
    .selectFrom('members')
    .select('user_id')
    .where('id', '=', id)
    .where('organization_id', '=', reference.organizationId)
    .executeTakeFirstOrThrow()
  const made = await findMadeThings(db, { id, user_id, organization_id: reference.organizationId })
  const keysOwned = await db
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where('organization_id', '=', reference.organizationId)
    .where('owner_id', '=', id)
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .execute()
  const sessions = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', user_id)
    .where('ends_at', '>', clock.nowMs())
    .execute()
  const agents = await db
    .selectFrom('agent_sign_ins')
    .select('id')
    .where('organization_id', '=', reference.organizationId)
    .where('member_id', '=', id)
    .where('state', 'in', ['allowed', 'open'])
    .where('ends_at', '>', clock.nowMs())
    .execute()
  return {
    keysOwned,
    keysMadeForOthers: [...made.keysForOthers],
    managementKeysMade: [...made.managementKeys],
    invitationsMade: made.invitations.length,
    sessions: sessions.length,
    agents: agents.length,
  }
}
