import type { LifeSpanTable } from '../../db/tables/availability.ts'
import { minuteMs } from '../refusals/minute.ts'
import { clip, gapsIn, type Interval } from './intervals.ts'
import { silenceMsMax } from './span-book.ts'

/** An organization's requests to a model that ended in a minute. */
export type MinuteCounts = {
  readonly valid: number
  readonly bad: number
  readonly slow: number
  readonly unserved: number
  readonly firstBadMs: number | null
  readonly lastBadMs: number | null
}

/**
 * Why a minute was down.
 *
 *     gateway    no gateway has shown that it lives
 *     model      the model has not answered, to the service's own question or to anybody's; behind a colon, with what error
 *     requests   too many requests were bad
 */
export type DownCause = 'gateway' | `model${'' | `:${string}`}` | 'requests'

/** Down minutes in a row. */
export type DownInterval = {
  /** As near as what is known allows, and within the minutes. */
  readonly fromMs: number
  readonly untilMs: number
  readonly minutes: number
  readonly causes: readonly DownCause[]
  readonly valid: number
  readonly bad: number
}

export type DownTimeParts = {
  readonly model: string
  readonly window: Interval
  /** The window, and a little more on both sides. */
  readonly around: Interval
  readonly spans: readonly LifeSpanTable[]
  /** By the beginning of the minute. */
  readonly minutes: ReadonlyMap<number, MinuteCounts>
  readonly downSharePpm: number
  isExcluded(at: number): boolean
}

type Evidence = Interval & { readonly cause: DownCause }

/** A model that nobody asks is asked every half a minute, and has as long to answer. */
const modelSilenceMsMax = 2 * silenceMsMax

/** Finds the minutes that were down, and what they make together. */
export function findDownTime(parts: DownTimeParts): {
  readonly down: readonly DownInterval[]
  readonly downMinutes: number
} {
  const { minutes, isExcluded, downSharePpm } = parts
  const evidenceOf = new Map<number, Evidence[]>()
  const note = (evidence: Evidence, isContradicted: (at: number) => boolean) => {
    for (let at = evidence.fromMs - (evidence.fromMs % minuteMs); at < evidence.untilMs; at += minuteMs) {
      if (!isExcluded(at) && !isContradicted(at)) evidenceOf.set(at, [...(evidenceOf.get(at) ?? []), evidence])
    }
  }
  for (const gap of gatewayGaps(parts)) note(gap, () => false)
  const isBad = ({ valid, bad }: MinuteCounts) => bad > 0 && bad * 1_000_000 >= downSharePpm * valid
  // Whoever was served shows that the model works; it was our own question that failed.
  const isServed = (at: number) => {
    const counts = minutes.get(at)
    return counts !== undefined && counts.valid > 0 && !isBad(counts)
  }
  for (const gap of modelGaps(parts)) note(gap, isServed)
  for (const [at, counts] of minutes) {
    if (!isBad(counts)) continue
    const { firstBadMs, lastBadMs } = counts
    const [fromMs, lastMs] = [firstBadMs ?? at, lastBadMs ?? at + minuteMs - 1]
    note({ fromMs, untilMs: lastMs + 1, cause: 'requests' }, () => false)
  }
  const downAt = [...evidenceOf.keys()].toSorted((a, b) => a - b)
  const down = runsOf(downAt).map((run) => describe(run, evidenceOf, minutes))
  return { down, downMinutes: downAt.length }
}

function gatewayGaps({ spans, window, around }: DownTimeParts): Evidence[] {
  return gapsIn(around, intervalsOf(spans, ''))
    .filter(({ fromMs, untilMs }) => untilMs - fromMs >= silenceMsMax)
    .flatMap((gap) => within(window, { ...gap, cause: 'gateway' }))
}

function within(window: Interval, evidence: Evidence): Evidence[] {
  const part = clip(evidence, window)
  return part === null ? [] : [{ ...evidence, ...part }]
}

function modelGaps({ spans, window, around, model }: DownTimeParts): Evidence[] {
  const failedAt = new Map<number, string>()
  for (const { subject, until_at: untilMs, ended_by: endedBy } of spans) {
    // Of several that failed at once the first is named.
    if (subject === model && endedBy !== null && !failedAt.has(untilMs)) failedAt.set(untilMs, endedBy)
  }
  return gapsIn(around, lastingAsTheirGateways(spans, model)).flatMap((gap): Evidence[] => {
    const code = failedAt.get(gap.fromMs)
    if (code !== undefined) return within(window, { ...gap, cause: `model:${code}` })
    return gap.untilMs - gap.fromMs >= modelSilenceMsMax ? within(window, { ...gap, cause: 'model' }) : []
  })
}

/**
 * What did not fail lasts as long as its gateway, or until somebody should have asked anew: a gateway that ends takes
 * its models with it, and not a moment before.
 */
function lastingAsTheirGateways(spans: readonly LifeSpanTable[], model: string): Interval[] {
  const gateways = Map.groupBy(
    spans.filter(({ subject }) => subject === ''),
    ({ boot_id: boot }) => boot,
  )
  const own = spans.filter(({ subject }) => subject === model)
  return own.map(({ boot_id: boot, from_at: fromMs, until_at: untilMs, ended_by: endedBy }) => {
    const gateway = gateways.get(boot)?.find((one) => one.from_at <= untilMs && one.until_at >= untilMs)
    if (endedBy !== null || gateway === undefined) return { fromMs, untilMs }
    return { fromMs, untilMs: Math.min(gateway.until_at, untilMs + modelSilenceMsMax) }
  })
}

function intervalsOf(spans: readonly LifeSpanTable[], subject: string): Interval[] {
  return spans
    .filter((span) => span.subject === subject)
    .map(({ from_at: fromMs, until_at: untilMs }) => ({ fromMs, untilMs }))
}

/** Minutes that follow each other. */
function runsOf(minutes: readonly number[]): Interval[] {
  const runs: { fromMs: number; untilMs: number }[] = []
  for (const at of minutes) {
    const last = runs.at(-1)
    if (last?.untilMs === at) last.untilMs = at + minuteMs
    else runs.push({ fromMs: at, untilMs: at + minuteMs })
  }
  return runs
}

function describe(
  run: Interval,
  evidenceOf: ReadonlyMap<number, readonly Evidence[]>,
  minutes: ReadonlyMap<number, MinuteCounts>,
): DownInterval {
  const causes = new Set<DownCause>()
  const found: Interval[] = []
  let [valid, bad] = [0, 0]
  for (let at = run.fromMs; at < run.untilMs; at += minuteMs) {
    for (const evidence of evidenceOf.get(at) ?? []) {
      causes.add(evidence.cause)
      const part = clip(evidence, run)
      if (part !== null) found.push(part)
    }
    valid += minutes.get(at)?.valid ?? 0
    bad += minutes.get(at)?.bad ?? 0
  }
  return {
    fromMs: found.reduce((least, { fromMs }) => Math.min(least, fromMs), run.untilMs),
    untilMs: found.reduce((most, { untilMs }) => Math.max(most, untilMs), run.fromMs),
    minutes: (run.untilMs - run.fromMs) / minuteMs,
    causes: [...causes].toSorted(),
    valid,
    bad,
  }
}
