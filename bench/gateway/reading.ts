import { setTimeout } from 'node:timers/promises'
import { sendOpenLoop, type Sample } from './load.ts'
import type { Shape } from './shapes.ts'
import type { Target } from './targets/target.ts'

/** What one target did under one load. */
export type Reading = {
  readonly target: string
  readonly shape: Shape
  /** All, the lead-in's among them. */
  readonly sent: number
  readonly requests: number
  readonly failures: number
  /** From a request's intended start, of those that were answered; sorted. */
  readonly firstMs: readonly number[]
  readonly endMs: readonly number[]
  /** How late the asker itself was; sorted. */
  readonly lateMs: readonly number[]
  /** Processor time for each request that ended; null where it cannot be told. */
  readonly cpuMsPerRequest: number | null
  /** The most that was resident meanwhile; null where it cannot be told. */
  readonly peakBytes: number | null
}

/** Until the connections are open and answers of this kind are under way. */
export const leadInMs = 500

export async function read(target: Target, shape: Shape, seconds: number): Promise<Reading> {
  const sending = sendOpenLoop(target, shape, leadInMs + seconds * 1_000)
  await setTimeout(leadInMs)
  const before = await target.use()
  const fromMs = performance.now()
  await setTimeout(seconds * 1_000)
  const after = await target.use()
  const untilMs = performance.now()
  const samples = await sending
  const measured = samples.filter(({ intendedMs }) => intendedMs >= fromMs && intendedMs < untilMs)
  const ended = samples.filter(({ endMs }) => endMs >= fromMs && endMs < untilMs).length
  const cpuMs = before === null || after === null || ended === 0 ? null : after.cpuMs - before.cpuMs
  const cpuMsPerRequest = cpuMs === null ? null : cpuMs / ended
  const peakBytes = after?.peakBytes ?? null
  return { target: target.name, shape, sent: samples.length, ...summarize(measured), cpuMsPerRequest, peakBytes }
}

function summarize(
  samples: readonly Sample[],
): Omit<Reading, 'target' | 'shape' | 'sent' | 'cpuMsPerRequest' | 'peakBytes'> {
  const answered = samples.filter(({ failure }) => failure === null)
  const failure = samples.find((sample) => sample.failure !== null)?.failure
  if (failure !== undefined) console.error(`  failed: ${failure}`)
  return {
    requests: samples.length,
    failures: samples.length - answered.length,
    firstMs: sorted(answered.map(({ firstMs, intendedMs }) => firstMs - intendedMs)),
    endMs: sorted(answered.map(({ endMs, intendedMs }) => endMs - intendedMs)),
    lateMs: sorted(samples.map(({ begunMs, intendedMs }) => begunMs - intendedMs)),
  }
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((one, other) => one - other)
}

/** A quantile of sorted numbers; NaN where there are none. */
export function percentile(numbers: readonly number[], percent: number): number {
  return numbers[Math.max(0, Math.ceil((numbers.length * percent) / 100) - 1)] ?? NaN
}
