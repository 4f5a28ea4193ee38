import { checkName } from '../accounts/check-name.ts'
import type { AlertTopic } from '../core/alert-topic.ts'
import { invalidRequest } from '../core/error.ts'
import type { OrganizationId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { change, type ChangeParts } from '../db/change.ts'
import { randomId } from '../lib/random-id.ts'
import { ownerOf } from './channels.ts'

/** A time in which something is not told of. */
export type Silence = {
  readonly id: string
  /** Null is everything. */
  readonly topic: AlertTopic | null
  readonly fromMs: number
  readonly untilMs: number
  readonly reason: string
}

export type NewSilence = Omit<Silence, 'id'> & { readonly organizationId: OrganizationId }

/** Longer ones are forgotten by those who set them. */
const silenceMsMax = 30 * 86_400_000

/** What happens meanwhile is never delivered, also not afterwards. */
export async function createSilence(parts: ChangeParts, principal: Principal, wanted: NewSilence): Promise<Silence> {
  const { organizationId, ...rest } = wanted
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const { topic, fromMs, untilMs } = wanted
  if (untilMs <= fromMs || untilMs - fromMs > silenceMsMax || untilMs <= parts.clock.nowMs()) {
    throw invalidRequest(
      ['until'],
      'value',
      'A silence ends in the future, after its beginning and within 30 days of it.',
    )
  }
  const silence = { ...rest, id: `silence_${randomId()}`, reason: checkName(wanted.reason) }
  const row = { topic, from_at: fromMs, until_at: untilMs, reason: silence.reason }
  const action = { action: 'alert-silences:create', organizationId, target: silence.id }
  await change(parts, principal, action, async (transaction, note) => {
    await transaction
      .insertInto('alert_silences')
      .values({ ...row, id: silence.id, organization_id: organizationId, created_at: parts.clock.nowMs() })
      .execute()
    note(null, row)
  })
  return silence
}

/** Those that are in force or will be, by when they end. */
export async function listSilences(
  { db, clock }: ChangeParts,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly Silence[]> {
  requirePermission(principal, 'alert-channels:read', ownerOf(organizationId))
  const rows = await db
    .selectFrom('alert_silences')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('until_at', '>', clock.nowMs())
    .orderBy('until_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, topic, from_at: fromMs, until_at: untilMs, reason }) => {
    return { id, topic, fromMs, untilMs, reason }
  })
}

export async function removeSilence(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
): Promise<void> {
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const action = { action: 'alert-silences:remove', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const removed = await transaction
      .deleteFrom('alert_silences')
      .where('id', '=', id)
      .where('organization_id', '=', organizationId)
      .returning(['topic', 'from_at', 'until_at', 'reason'])
      .executeTakeFirst()
    if (removed === undefined) throw notFound()
    note(removed, null)
  })
}
