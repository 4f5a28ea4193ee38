import { invalidRequest } from '../../core/error.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { randomId } from '../../lib/random-id.ts'
import { minuteMs } from '../refusals/minute.ts'
import { monthOf } from './month.ts'

/** Maintenance that was announced in time, and so does not count. */
export type Exclusion = {
  readonly id: string
  readonly fromMs: number
  readonly untilMs: number
  readonly reason: string
  readonly announcedAtMs: number
}

export type ExclusionRules = {
  /** How long before it maintenance has to be announced. */
  readonly noticeHoursMin: number
  /** How much of it there may be in a calendar month, in UTC. */
  readonly hoursPerMonthMax: number
}

const hourMs = 3_600_000

export type NewExclusion = Pick<Exclusion, 'fromMs' | 'untilMs' | 'reason'>

export async function announceMaintenance(
  parts: ChangeParts & { readonly rules: ExclusionRules },
  principal: Principal,
  { fromMs, untilMs, reason }: NewExclusion,
): Promise<Exclusion> {
  requirePermission(principal, 'objectives:update', { organizationId: null })
  if (fromMs % minuteMs !== 0 || untilMs % minuteMs !== 0 || untilMs <= fromMs)
    throw invalidRequest(['until'], 'value', 'Maintenance takes whole minutes and ends after it has begun.')
  if (monthOf(fromMs) !== monthOf(untilMs - 1))
    throw invalidRequest(['until'], 'value', 'Maintenance over the end of a month is announced for each month.')
  const id = `maint_${randomId()}`
  const action = { action: 'maintenance:announce', organizationId: installationChain, target: id }
  return change(parts, principal, action, async (transaction, note) => {
    const announcedAtMs = parts.clock.nowMs()
    const { noticeHoursMin, hoursPerMonthMax } = parts.rules
    if (fromMs < announcedAtMs + noticeHoursMin * hourMs)
      throw invalidRequest(['from'], 'value', `Maintenance is announced ${noticeHoursMin} hours before it at least.`)
    const others = await readExclusions(transaction)
    if (others.some((other) => other.fromMs < untilMs && fromMs < other.untilMs))
      throw invalidRequest(['from'], 'value', 'Other maintenance is announced for this time.')
    const own = others.filter((other) => monthOf(other.fromMs) === monthOf(fromMs))
    const sumMs = own.reduce((sum, other) => sum + other.untilMs - other.fromMs, untilMs - fromMs)
    if (sumMs > hoursPerMonthMax * hourMs)
      throw invalidRequest(['until'], 'value', `No more than ${hoursPerMonthMax} hours of a month are maintenance.`)
    const made: Exclusion = { id, fromMs, untilMs, reason, announcedAtMs }
    await transaction
      .insertInto('sla_exclusions')
      .values({ id, from_at: fromMs, until_at: untilMs, reason, announced_at: announcedAtMs, withdrawn_at: null })
      .execute()
    note(null, made)
    return made
  })
}

/** Takes back what has not begun. */
export async function withdrawMaintenance(parts: ChangeParts, principal: Principal, id: string): Promise<void> {
  requirePermission(principal, 'objectives:update', { organizationId: null })
  const action = { action: 'maintenance:withdraw', organizationId: installationChain, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const withdrawn = await transaction
      .updateTable('sla_exclusions')
      .set({ withdrawn_at: parts.clock.nowMs() })
      .where('id', '=', id)
      .where('withdrawn_at', 'is', null)
      .where('from_at', '>', parts.clock.nowMs())
      .returning(['from_at', 'until_at', 'reason'])
      .executeTakeFirst()
    if (withdrawn === undefined) throw notFound()
    note(withdrawn, null)
  })
}

/** All that were not withdrawn, the earliest first. */
export async function readExclusions(db: Pick<Database, 'selectFrom'>): Promise<readonly Exclusion[]> {
  const rows = await db
    .selectFrom('sla_exclusions')
    .selectAll()
    .where('withdrawn_at', 'is', null)
    .orderBy('from_at')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    fromMs: row.from_at,
    untilMs: row.until_at,
    reason: row.reason,
    announcedAtMs: row.announced_at,
  }))
}
