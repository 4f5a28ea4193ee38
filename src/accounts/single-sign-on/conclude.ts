// What becomes of a way that came back from a provider, whichever language it speaks: a session, or an identity that is
// linked to somebody who has one.

import type { ConnectionId, UserId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { change, joinTransaction } from '../../db/change.ts'
import { withoutNotice } from '../change-access.ts'
import { lockAccess } from '../access/lock-organization.ts'
import { beginSession, type Browser } from '../sign-in/sessions.ts'
import { ownAction } from '../sign-in/users.ts'
import { applyGroups } from './group-mappings.ts'
import type { ConnectionRow } from './read-connections.ts'
import type { Claims } from './oidc/exchange-code.ts'
import type { SsoParts } from './parts.ts'
import { linkIdentity, recognise } from './people.ts'

export type Concluding = {
  readonly connection: ConnectionRow
  readonly claims: Claims
  /** Who links their identity; null for signing in. */
  readonly linking: UserId | null
  readonly browser: Browser
  /** Whether the provider was told to ask anew who somebody is, and has. */
  readonly isProof: boolean
  /** What the provider has to be told to sign the person out; null where there is nothing. */
  readonly hint: string | null
  /** When the provider wants the session to be over at the latest; null where it does not say. */
  readonly endsAtMs: number | null
}

export type Concluded = { readonly token: string | null; readonly userId: UserId }

export async function conclude(parts: SsoParts, concluding: Concluding): Promise<Concluded> {
  const { connection, claims, linking } = concluding
  if (linking === null) return openSession(parts, concluding)
  const inside = withoutNotice(parts)
  await parts.db.transaction().execute(async (transaction) => {
    await lockAccess(transaction, connection.organization_id)
    await linkIdentity(inside, transaction, { connection, claims, userId: linking })
  })
  await parts.accessChanged?.()
  return { token: null, userId: linking }
}

async function openSession(
  parts: SsoParts,
  { connection, claims, browser, isProof, endsAtMs, hint }: Concluding,
): Promise<Concluded> {
  const inside = withoutNotice(parts)
  const opened = await parts.db.transaction().execute(async (transaction) => {
    // Whoever is being suspended is so before, or their session is found and ended.
    await lockAccess(transaction, connection.organization_id)
    const recognised = await recognise(inside, transaction, { connection, claims })
    const { userId } = recognised
    await applyGroups(inside, transaction, { connection, claims, recognised })
    const user: Principal = { kind: 'user', userId, organizationId: null, role: null }
    const joined = { ...inside, db: joinTransaction(transaction) }
    const token = await change(joined, user, ownAction('sessions:create', userId), async (_same, note) => {
      const vouchedBy = { ...vouch(connection.id, claims, isProof ? parts.clock.nowMs() : null), endsAtMs, hint }
      const made = await beginSession(parts, transaction, {
        userId,
        method: 'sso',
        state: 'open',
        ...browser,
        vouchedBy,
      })
      note(null, { method: 'sso', connection: connection.id }, made.id)
      return made.token
    })
    return { token, userId }
  })
  await parts.accessChanged?.()
  return opened
}

function vouch(connectionId: ConnectionId, claims: Claims, askedAnewAtMs: number | null) {
  const { sub: subject, sid, auth_time: authTime } = claims
  const saidMs = typeof authTime === 'number' ? Math.trunc(authTime * 1_000) : 0
  const session = typeof sid === 'string' && sid.length <= 255 ? sid : null
  return { connectionId, subject, session, provenAtMs: Math.max(0, askedAnewAtMs ?? saidMs) }
}
