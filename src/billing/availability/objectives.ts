import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import { invalidRequest } from '../../core/error.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { SlaObjectiveTable } from '../../db/tables/availability.ts'
import { nowAndEvery, type Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Log } from '../../telemetry/log.ts'
import { minuteMs } from '../refusals/minute.ts'

/** A share in millionths, such as 999,000 for 99.9 %. */
const ppm = z.int().min(0).max(1_000_000)

export const promiseSchema = z
  .strictObject({
    /** What is aimed at. */
    availabilityPpm: ppm,
    /** What is counted: minutes that were not down, or requests that were not bad. */
    basis: z.enum(['minutes', 'requests']),
    /** A minute is down from this share of bad requests on. */
    downSharePpm: ppm.min(1),
    /** A first token that comes later is bad; null agrees on nothing. */
    firstTokenMs: z.int().min(1).max(3_600_000).nullable(),
    /** Which share of a month's charges is given back below which availability, the mildest first. */
    credits: z
      .array(z.strictObject({ belowPpm: ppm, percent: z.int().min(1).max(100) }))
      .max(10)
      .refine(
        (steps) =>
          steps.every((step, index) => {
            const before = steps[index - 1]
            return before === undefined || (step.belowPpm < before.belowPpm && step.percent > before.percent)
          }),
        'Each step is further below and gives back more than the one before it.',
      ),
  })
  .readonly()

export type Promised = z.output<typeof promiseSchema>

/** What availability is measured by where nothing was set. It promises nothing, so nothing is given back. */
export const measuredBy: Promised = {
  availabilityPpm: 999_000,
  basis: 'minutes',
  downSharePpm: 50_000,
  firstTokenMs: null,
  credits: [],
}

/** What others give back. */
export const usualCredits: Promised['credits'] = [
  { belowPpm: 999_000, percent: 10 },
  { belowPpm: 990_000, percent: 25 },
  { belowPpm: 950_000, percent: 100 },
]

export type Objective = Promised & {
  readonly id: string
  /** Null is everyone for whom nothing else was agreed. */
  readonly organizationId: OrganizationId | null
  readonly effectiveAtMs: number
}

export type NewObjective = Promised & {
  readonly organizationId: OrganizationId | null
  /** Null is now. */
  readonly effectiveAtMs: number | null
}

/** Promises something from a time on, which is not past: what was promised before stays as it was. */
export async function setObjective(parts: ChangeParts, principal: Principal, wanted: NewObjective): Promise<Objective> {
  requirePermission(principal, 'objectives:update', { organizationId: null })
  const { organizationId, effectiveAtMs: from, ...rest } = wanted
  const { data: promised, error } = promiseSchema.safeParse(rest)
  if (promised === undefined) {
    const [fault] = error.issues
    throw invalidRequest(fault?.path.filter((part) => typeof part !== 'symbol') ?? null, 'value', fault?.message ?? '')
  }
  const id = `slo_${randomId()}`
  const action = { action: 'objectives:set', organizationId: organizationId ?? installationChain, target: id }
  return change(parts, principal, action, async (transaction, note) => {
    const nowMs = parts.clock.nowMs()
    const effectiveAtMs = from ?? nowMs
    if (effectiveAtMs < nowMs) throw invalidRequest(['effectiveAt'], 'value', 'What is past cannot be promised anew.')
    const objective = { id, organizationId, effectiveAtMs, ...promised }
    await transaction
      .insertInto('sla_objectives')
      .values({
        id,
        organization_id: organizationId ?? '',
        effective_at: effectiveAtMs,
        availability_ppm: promised.availabilityPpm,
        basis: promised.basis,
        down_share_ppm: promised.downSharePpm,
        first_token_ms: promised.firstTokenMs,
        credits: JSON.stringify(promised.credits),
        created_at: nowMs,
      })
      .execute()
    note(null, objective)
    return objective
  })
}

/** What was ever promised to an organization, also as one of all, the oldest first; null is all promises. */
export async function listObjectives(
  db: Database,
  principal: Principal,
  organizationId: OrganizationId | null,
): Promise<readonly Objective[]> {
  requirePermission(principal, 'availability:read', { organizationId })
  return readObjectives(db, organizationId)
}

export async function readObjectives(
  db: Database,
  organizationId: OrganizationId | null,
): Promise<readonly Objective[]> {
  let rows = db.selectFrom('sla_objectives').selectAll()
  if (organizationId !== null) rows = rows.where('organization_id', 'in', [organizationId, ''])
  return (await rows.orderBy('effective_at').orderBy('created_at').execute()).map(fromRow)
}

/** What counts for an organization at a time: its own promise above that to all. */
export function findObjective(
  objectives: readonly Objective[],
  organizationId: OrganizationId,
  atMs: number,
): Promised & { readonly id: string | null } {
  const inForce = objectives.filter(({ effectiveAtMs }) => effectiveAtMs <= atMs)
  const own = inForce.findLast((objective) => objective.organizationId === organizationId)
  const general = inForce.findLast((objective) => objective.organizationId === null)
  return own ?? general ?? { id: null, ...measuredBy }
}

export type LiveObjectives = {
  /** The wait for a first token that was agreed with an organization, found without asking the database. */
  agreedFirstTokenMs(organizationId: OrganizationId, atMs: number): number | null
  close(): Promise<void>
}

export type LiveObjectivesParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** Reads what is promised once a minute. The metrics go by it; reports read the promises themselves. */
export function keepObjectives({ db, clock, log }: LiveObjectivesParts): LiveObjectives {
  let objectives: readonly Objective[] = []
  const close = nowAndEvery(clock, minuteMs, async () => {
    try {
      objectives = await readObjectives(db, null)
    } catch (error) {
      log.warn({ error }, 'the promises of availability could not be read; those read before hold in the metrics')
    }
  })
  return {
    agreedFirstTokenMs: (organizationId, atMs) =>
      objectives.length === 0 ? null : findObjective(objectives, organizationId, atMs).firstTokenMs,
    close,
  }
}

function fromRow(row: SlaObjectiveTable): Objective {
  const { id, organization_id: organizationId, effective_at: effectiveAtMs } = row
  const promised = promiseSchema.parse({
    availabilityPpm: row.availability_ppm,
    basis: row.basis,
    downSharePpm: row.down_share_ppm,
    firstTokenMs: row.first_token_ms,
    credits: JSON.parse(row.credits) as unknown,
  })
  return { id, organizationId: organizationId === '' ? null : organizationId, effectiveAtMs, ...promised }
}
