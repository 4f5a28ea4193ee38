import type { AttemptId, OrganizationId, UserId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { ConnectionTable, LoginAttemptTable } from '../../db/tables/single-sign-on.ts'
import { randomId } from '../../lib/random-id.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { faultWords, type FaultCode } from './fault.ts'
import { readConnection, type ConnectionReference } from './read-connections.ts'

export type Attempt = {
  readonly id: AttemptId
  readonly atMs: number
  readonly outcome: LoginAttemptTable['outcome']
  readonly code: string | null
  /** Why it was refused, in words. */
  readonly reason: string | null
  readonly userId: UserId | null
  readonly requestId: string
}

type NewAttempt = {
  readonly connection: Pick<ConnectionTable, 'id' | 'organization_id'>
  readonly outcome: LoginAttemptTable['outcome']
  readonly code: FaultCode | null
  readonly userId: UserId | null
}

const keptMs = 90 * 86_400_000
/** Anybody can send nonsense to a connection; more of it in an hour tells no more. */
const refusalsPerHourMax = 500
const hourMs = 3_600_000

/** Notes how an attempt to sign in by a connection has gone, for those who look after it. */
export async function noteAttempt(
  { db, clock, origin }: Pick<SignInParts, 'db' | 'clock' | 'origin'>,
  { connection, outcome, code, userId }: NewAttempt,
): Promise<void> {
  const now = clock.nowMs()
  await db
    .deleteFrom('login_attempts')
    .where('at', '<', now - keptMs)
    .where('connection_id', '=', connection.id)
    .execute()
  if (outcome === 'refused') {
    const { count } = await db
      .selectFrom('login_attempts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('connection_id', '=', connection.id)
      .where('at', '>', now - hourMs)
      .where('outcome', '=', 'refused')
      .executeTakeFirstOrThrow()
    if (Number(count) >= refusalsPerHourMax) return
  }
  const where = { connection_id: connection.id, organization_id: connection.organization_id }
  await db
    .insertInto('login_attempts')
    .values({
      id: `att_${randomId()}`,
      ...where,
      at: now,
      outcome,
      code,
      user_id: userId,
      request_id: origin?.requestId ?? '',
    })
    .execute()
}

const shownMax = 200

/** The latest attempts, the newest first. */
export async function listAttempts(
  parts: SignInParts,
  principal: Principal,
  reference: ConnectionReference & { readonly organizationId: OrganizationId },
): Promise<readonly Attempt[]> {
  requirePermission(principal, 'connections:read', reference)
  const { id } = await readConnection(parts, principal, reference)
  const rows = await parts.db
    .selectFrom('login_attempts')
    .selectAll()
    .where('connection_id', '=', id)
    .where('organization_id', '=', reference.organizationId)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(shownMax)
    .execute()
  return rows.map(({ id: attempt, at, outcome, code, user_id, request_id }) => ({
    id: attempt,
    atMs: at,
    outcome,
    code,
    reason: code === null ? null : (faultWords[code as FaultCode] ?? null),
    userId: user_id,
    requestId: request_id,
  }))
}
