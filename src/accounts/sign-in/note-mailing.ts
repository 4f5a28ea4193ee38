import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { change } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import { requireGrant } from '../members.ts'
import { readInvitation } from './accept-invitation.ts'
import { readOpen, type InvitationReference } from './invitations.ts'
import type { SignInParts } from './parts.ts'
import { hashToken } from './one-time.ts'

/** What a message to whoever is invited tells them. */
export type Mailing = {
  readonly email: string
  readonly role: Role
  readonly organizationName: string
  /** Null where no member has invited, but the operator or a key. */
  readonly inviterName: string | null
  readonly endsAtMs: number
}

const dayMs = 86_400_000
/** Invitations of an organization that may go out by the relay within a day: it is the operator's, whose name suffers from more. */
export const mailedPerDayMax = 200
/** Nobody is sent one invitation twice within this. */
const againMs = 60_000

/**
 * Notes that an invitation's link is about to be mailed, by whoever was shown the link and could invite to it. Throws where
 * another link has taken its place, or where too many were mailed.
 */
export async function noteMailing(
  parts: SignInParts,
  principal: Principal,
  { token, ...reference }: InvitationReference & { readonly token: string },
): Promise<Mailing> {
  requirePermission(principal, 'members:create', reference)
  const { organizationId, id } = reference
  const action = { action: 'invitations:mail', organizationId, target: id }
  const now = parts.clock.nowMs()
  await change(parts, principal, action, async (transaction, note) => {
    const row = await readOpen(transaction, reference)
    requireGrant(principal, row.role)
    if (row.link_hash !== hashToken(token)) {
      throw invalidRequest(
        ['token'],
        'unsupported-value',
        'This is no link of the invitation: a newer one took its place.',
      )
    }
    if (row.ends_at <= now) throw conflict('The invitation has ended: make a new link first.')
    if (row.mailed_at !== null && now - row.mailed_at < againMs) {
      throw conflict('It was mailed less than a minute ago.')
    }
    if ((await countMailed(transaction, { organizationId, sinceMs: now - dayMs })) >= mailedPerDayMax) {
      throw conflict(
        `${mailedPerDayMax} invitations were mailed within a day, which is the most: hand this link on yourself.`,
      )
    }
    await transaction
      .updateTable('invitations')
      .set({ mailed_at: now })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note(null, { email: row.email })
  })
  const row = await readInvitation(parts, token)
  const { email, role, organization_name: organizationName, inviter_name: inviterName, ends_at: endsAtMs } = row
  return { email, role, organizationName, inviterName, endsAtMs }
}

type Since = { readonly organizationId: InvitationReference['organizationId']; readonly sinceMs: number }

async function countMailed(transaction: Transaction<Tables>, { organizationId, sinceMs }: Since): Promise<number> {
  const { mailed } = await transaction
    .selectFrom('invitations')
    .select(({ fn }) => fn.countAll<number | string>().as('mailed'))
    .where('organization_id', '=', organizationId)
    .where('mailed_at', '>', sinceMs)
    .executeTakeFirstOrThrow()
  return Number(mailed)
}
