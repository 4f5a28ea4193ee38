import { createHash } from 'node:crypto'
import type { OrganizationId } from '../../core/ids.ts'
import { modelIds } from '../../core/model.ts'
import { picosPerMicro, toMicrosText } from '../../core/money.ts'
import type { Database } from '../../db/database.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { rollUp } from '../usage/roll-up.ts'
import { readExclusions } from './exclusions.ts'
import { clip } from './intervals.ts'
import { digestLedger, type LedgerDigest } from './ledger-digest.ts'
import { measureAvailability, type Availability, type ModelAvailability } from './measure.ts'
import { periodOf } from './month.ts'
import { findObjective, readObjectives, type Promised } from './objectives.ts'

/** Changes when the same rows would give other numbers. */
export const formula = 'odyssey-sla-1'

export type SlaQuestion = {
  readonly organizationId: OrganizationId
  /** As `2026-11`, in UTC. */
  readonly month: string
  readonly currency: string
}

export type Credit = {
  readonly model: string
  readonly chargesPicos: bigint
  readonly percent: number
  readonly micros: bigint
}

export type SlaNumbers = Availability & {
  readonly objective: Promised & { readonly id: string | null }
  readonly exclusions: readonly {
    readonly id: string
    readonly fromMs: number
    readonly untilMs: number
    readonly reason: string
  }[]
  readonly credits: readonly Credit[]
}

/** How a month was for an organization, as far as it has come. */
export async function computeSla(db: Database, question: SlaQuestion, nowMs: number): Promise<SlaNumbers> {
  const { organizationId, month } = question
  const period = periodOf(month)
  await rollUp(db)
  const objective = findObjective(await readObjectives(db, organizationId), organizationId, period.fromMs)
  const exclusions = (await readExclusions(db)).filter((exclusion) => clip(exclusion, period) !== null)
  const { downSharePpm } = objective
  const models = modelIds
  const measured = await measureAvailability(db, { organizationId, models, period, nowMs, downSharePpm, exclusions })
  const charges = await readCharges(db, question)
  const credits = measured.models.map((model) => creditFor(model, objective, charges.get(model.model) ?? 0n))
  return { ...measured, objective, exclusions, credits }
}

/** A month's charges by model. */
async function readCharges(db: Database, { organizationId, month }: SlaQuestion): Promise<ReadonlyMap<string, bigint>> {
  const { fromMs, untilMs: toMs } = periodOf(month)
  const query = { organizationId, fromMs, toMs, bucket: 'whole', groupBy: 'model', limit: 1_000, cursor: null } as const
  const { rows } = await queryUsage(db, query)
  return new Map(rows.map(({ group, costPicos }) => [group ?? '', costPicos]))
}

/** What is given back of a model's charges: the step that its availability has fallen below the furthest. */
export function creditFor(
  { model, uptimePpm }: Pick<ModelAvailability, 'model' | 'uptimePpm'>,
  { basis, credits }: Pick<Promised, 'basis' | 'credits'>,
  chargesPicos: bigint,
): Credit {
  const uptime = uptimePpm[basis]
  const step = uptime === null ? undefined : credits.findLast(({ belowPpm }) => uptime < belowPpm)
  const percent = step?.percent ?? 0
  const charged = chargesPicos > 0n ? chargesPicos : 0n
  return { model, chargesPicos, percent, micros: (charged * BigInt(percent)) / (100n * picosPerMicro) }
}

/** The report as it is signed: the same numbers give the same bytes, on either database. */
export function writeReport(
  { organizationId, month, currency }: SlaQuestion,
  numbers: SlaNumbers,
  digest: LedgerDigest,
): string {
  const { window, objective } = numbers
  const report = {
    formula,
    organization: organizationId,
    month,
    currency,
    measuredFrom: toTime(window.fromMs),
    measuredUntil: toTime(window.untilMs),
    objective: {
      id: objective.id,
      availabilityPpm: objective.availabilityPpm,
      basis: objective.basis,
      downSharePpm: objective.downSharePpm,
      firstTokenMs: objective.firstTokenMs,
      credits: objective.credits.map(({ belowPpm, percent }) => ({ belowPpm, percent })),
    },
    models: numbers.models.map(showModel),
    unreadRequests: numbers.unread,
    exclusions: numbers.exclusions.map(({ id, fromMs, untilMs, reason }) => {
      return { id, from: toTime(fromMs), until: toTime(untilMs), reason }
    }),
    credits: numbers.credits.map(({ model, chargesPicos, percent, micros }) => {
      return { model, chargesMicros: toMicrosText(chargesPicos), percent, creditMicros: String(micros) }
    }),
    creditMicros: String(numbers.credits.reduce((sum, { micros }) => sum + micros, 0n)),
    ledger: {
      rows: digest.rows,
      firstSequence: digest.firstSequence,
      lastSequence: digest.lastSequence,
      sha256: digest.sha256,
      marksSha256: createHash('sha256').update(digest.marks).digest('hex'),
    },
  }
  return `${JSON.stringify(report, null, 2)}\n`
}

export function showModel({ model, minutes, requests, uptimePpm, down }: ModelAvailability) {
  return {
    model,
    minutes: { counted: minutes.counted, down: minutes.down, excluded: minutes.excluded },
    requests: { valid: requests.valid, bad: requests.bad, slow: requests.slow, unserved: requests.unserved },
    uptimePpm: { minutes: uptimePpm.minutes, requests: uptimePpm.requests },
    down: down.map(({ fromMs, untilMs, minutes: count, causes, valid, bad }) => {
      return { from: toTime(fromMs), until: toTime(untilMs), minutes: count, causes: [...causes], valid, bad }
    }),
  }
}

/** The report of a month, or of the part of it that is past. */
export async function reportText(db: Database, question: SlaQuestion, nowMs: number) {
  const numbers = await computeSla(db, question, nowMs)
  const { fromMs } = periodOf(question.month)
  const digest = await digestLedger(db, question.organizationId, { fromMs, untilMs: numbers.window.untilMs })
  return { text: writeReport(question, numbers, digest), numbers, digest }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * What of the downtime allowed is left, in millionths of it. Of minutes all of the month's are the measure, also those to
 * come; of requests those that there were.
 */
export function budgetLeft(
  { availabilityPpm, basis }: Pick<SlaNumbers['objective'], 'availabilityPpm' | 'basis'>,
  { minutes, requests }: Pick<SlaNumbers['models'][number], 'minutes' | 'requests'>,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): number {
  const all = basis === 'minutes' ? (untilMs - fromMs) / 60_000 - minutes.excluded : requests.valid
  const lost = basis === 'minutes' ? minutes.down : requests.bad
  const allowed = (all * (1_000_000 - availabilityPpm)) / 1_000_000
  if (allowed === 0) return lost === 0 ? 1_000_000 : -1_000_000
  // What is used is rounded, so that nothing lost leaves all of it: parts of minutes are not computed without an error.
  return Math.max(-1_000_000_000, 1_000_000 - Math.ceil((lost * 1_000_000) / allowed))
}
