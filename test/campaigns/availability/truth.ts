// What the script says of a month, computed without anything of the product's: the definitions are written down once more.

import type { Outage, Script } from './script.ts'
import { minuteMs } from './script.ts'

/** What became of one request, as the script had it. */
export type Happened = {
  readonly organizationId: string
  readonly model: string
  readonly atMs: number
  readonly isBad: boolean
}

export type Stretch = { readonly fromMs: number; readonly untilMs: number }

export type Truth = {
  readonly minutes: number
  readonly down: number
  readonly valid: number
  readonly bad: number
  readonly stretches: readonly Stretch[]
}

const ofGateways = new Set([
  'all gateways killed',
  'all gateways killed for 61 seconds',
  'all gateways killed at the end of the month',
])

export function isAway({ kind }: Outage): boolean {
  return ofGateways.has(kind)
}

/** Whether a model cannot answer while an outage lasts, though the gateways live. */
export function isMute({ kind, model }: Outage, asked: string): boolean {
  return (kind === 'engine fails' && model === asked) || kind === 'disk is full'
}

export function tellTruth(script: Script, organizationId: string, model: string, all: readonly Happened[]): Truth {
  const own = all.filter(
    (one) =>
      one.organizationId === organizationId &&
      one.model === model &&
      one.atMs >= script.fromMs &&
      one.atMs < script.untilMs,
  )
  const byMinute = Map.groupBy(own, ({ atMs }) => Math.floor(atMs / minuteMs))
  const away = script.outages.filter(isAway)
  const mute = script.outages.filter((outage) => isMute(outage, model))
  const downAt = new Map<number, Stretch[]>()
  for (let minute = script.fromMs / minuteMs; minute < script.untilMs / minuteMs; minute += 1) {
    const requests = byMinute.get(minute) ?? []
    const bad = requests.filter(({ isBad }) => isBad)
    const reasons: Stretch[] = away.filter((outage) => overlaps(outage, minute))
    if (requests.length === 0) reasons.push(...mute.filter((outage) => overlaps(outage, minute)))
    if (bad.length > 0 && bad.length * 20 >= requests.length) {
      const times = bad.map(({ atMs }) => atMs)
      reasons.push({ fromMs: Math.min(...times), untilMs: Math.max(...times) + 1 })
      // The outage that made them fail is what is to be found, not its first victim.
      reasons.push(...mute.filter((outage) => overlaps(outage, minute)))
    }
    if (reasons.length > 0) downAt.set(minute, reasons)
  }
  return {
    minutes: (script.untilMs - script.fromMs) / minuteMs,
    down: downAt.size,
    valid: own.length,
    bad: own.filter(({ isBad }) => isBad).length,
    stretches: stretchesOf(downAt),
  }
}

function overlaps({ fromMs, untilMs }: Stretch, minute: number): boolean {
  return fromMs < (minute + 1) * minuteMs && untilMs > minute * minuteMs
}

function stretchesOf(downAt: ReadonlyMap<number, readonly Stretch[]>): Stretch[] {
  const runs: { first: number; last: number; reasons: Stretch[] }[] = []
  for (const [minute, reasons] of [...downAt].toSorted(([a], [b]) => a - b)) {
    const run = runs.at(-1)
    if (run !== undefined && run.last === minute - 1) {
      run.last = minute
      run.reasons.push(...reasons)
    } else runs.push({ first: minute, last: minute, reasons: [...reasons] })
  }
  return runs.map(({ first, last, reasons }) => ({
    fromMs: Math.max(first * minuteMs, Math.min(...reasons.map(({ fromMs }) => fromMs))),
    untilMs: Math.min((last + 1) * minuteMs, Math.max(...reasons.map(({ untilMs }) => untilMs))),
  }))
}
