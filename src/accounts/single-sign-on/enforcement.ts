import type { Transaction } from 'kysely'
import { conflict } from '../../core/error.ts'
import type { MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { findConnection, type ConnectionReference, type ConnectionRow } from './read-connections.ts'

/** Somebody who has not used it for a month may find that it is lost. */
const usedWithinMs = 30 * 86_400_000

/**
 * Lets members in by one connection alone, but for the owner named, who comes in without it when it fails.
 *
 * Refused until that is sure to work: the connection is on and was tried by whoever asks, a domain is the organization’s
 * own, and the owner has used a passkey or an authenticator app a short while ago.
 */
export async function enforceConnection(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId, breakGlassId }: ConnectionReference & { readonly breakGlassId: MemberId },
): Promise<void> {
  requirePermission(principal, 'connections:enforce', { organizationId })
  const action = { action: 'connections:enforce', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findConnection(transaction, { id, organizationId })
    await requireTried(transaction, principal, row)
    await requireDomain(transaction, organizationId)
    await requireBreakGlass(parts, transaction, { organizationId, breakGlassId })
    await refuseSecond(transaction, row)
    const enforced_at = row.enforced_at ?? parts.clock.nowMs()
    await transaction
      .updateTable('connections')
      .set({ enforced_at, break_glass_id: breakGlassId })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note(
      { enforced_at: row.enforced_at, break_glass_id: row.break_glass_id },
      { enforced_at, break_glass_id: breakGlassId },
    )
  })
}

export async function relaxConnection(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
): Promise<void> {
  requirePermission(principal, 'connections:enforce', { organizationId })
  const action = { action: 'connections:relax', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findConnection(transaction, { id, organizationId })
    await transaction
      .updateTable('connections')
      .set({ enforced_at: null, break_glass_id: null })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note({ enforced_at: row.enforced_at, break_glass_id: row.break_glass_id }, { enforced_at: null })
  })
}

async function requireTried(transaction: Transaction<Tables>, principal: Principal, row: ConnectionRow): Promise<void> {
  if (row.state !== 'on') throw conflict('The connection is not switched on.')
  if (row.tested_by === null) throw conflict('Nobody has signed in with it to try it.')
  if (principal.kind !== 'member') return
  const member = await transaction
    .selectFrom('members')
    .select('user_id')
    .where('id', '=', principal.memberId)
    .where('organization_id', '=', row.organization_id)
    .executeTakeFirst()
  if (member?.user_id !== row.tested_by) throw conflict('Link your own identity first, so that you have tried it.')
}

async function requireDomain(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<void> {
  const domain = await transaction
    .selectFrom('domains')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  if (domain === undefined) throw conflict('No domain of the organization is verified.')
}

type Wanted = { readonly organizationId: OrganizationId; readonly breakGlassId: MemberId }

async function requireBreakGlass(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { organizationId, breakGlassId }: Wanted,
): Promise<void> {
  const member = await transaction
    .selectFrom('members')
    .select('user_id')
    .where('id', '=', breakGlassId)
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .where('suspended_at', 'is', null)
    .executeTakeFirst()
  if (member === undefined) throw conflict('Only an owner can be the one who comes in without the connection.')
  if (member.user_id !== null && (await hasUsedFactor(parts, transaction, member.user_id))) return
  throw conflict('That owner has used neither a passkey nor an authenticator app within 30 days.')
}

const totpStepMs = 30_000

async function hasUsedFactor(
  { clock, signIn }: SignInParts,
  transaction: Transaction<Tables>,
  userId: UserId,
): Promise<boolean> {
  const sinceMs = clock.nowMs() - usedWithinMs
  const passkey = await transaction
    .selectFrom('passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .where('last_used_at', '>', sinceMs)
    .executeTakeFirst()
  if (passkey !== undefined) return true
  // An authenticator app stands behind a password.
  if (signIn.passwords === 'off') return false
  const totp = await transaction
    .selectFrom('totp')
    .innerJoin('passwords', 'passwords.user_id', 'totp.user_id')
    .select('totp.user_id')
    .where('totp.user_id', '=', userId)
    .where('totp.confirmed_at', 'is not', null)
    .where('totp.last_step', '>', Math.floor(sinceMs / totpStepMs))
    .executeTakeFirst()
  return totp !== undefined
}

async function refuseSecond(transaction: Transaction<Tables>, row: ConnectionRow): Promise<void> {
  const other = await transaction
    .selectFrom('connections')
    .select('id')
    .where('organization_id', '=', row.organization_id)
    .where('enforced_at', 'is not', null)
    .where('id', '!=', row.id)
    .executeTakeFirst()
  if (other !== undefined) throw conflict('Members come in by another connection alone: relax that first.')
}
