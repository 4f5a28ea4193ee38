import { modelIds } from '../../../src/core/model.ts'
import type { Random } from '../random.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const kinds = [
  'all gateways killed',
  'all gateways killed for 61 seconds',
  'all gateways killed at the end of the month',
  'one gateway killed',
  'gateways restarted in turn',
  'engine fails',
  'disk is full',
  'database is away',
  'first tokens are slow',
  'clock a day ahead',
  'clock a day behind',
  'requests at fault by the thousand',
] as const
export type Kind = (typeof kinds)[number]

/** What is done to the service from a moment on, up to another. */
export type Outage = {
  readonly kind: Kind
  readonly fromMs: number
  readonly untilMs: number
  /** The only model that it is about; null is all. */
  readonly model: string | null
}

/** How many requests an organization makes of each model in a minute around an outage. */
export type Script = {
  readonly month: string
  readonly fromMs: number
  readonly untilMs: number
  readonly gateways: number
  readonly perMinute: number
  readonly outages: readonly Outage[]
}

/** Months with 28 to 31 days, and those in which clocks are set to summer time and back. */
const months = ['2027-02', '2027-03', '2027-10', '2027-11', '2028-02', '2028-03', '2028-12', '2029-01']

export function writeScript(random: Random, kindsOfMonth: readonly Kind[]): Script {
  const month = random.pick(months)
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [fromMs, untilMs] = [Date.UTC(year, number - 1, 1), Date.UTC(year, number, 1)]
  // Each outage has days of its own, so that what one does to the clocks says nothing about another.
  const slotMs = (untilMs - fromMs) / kindsOfMonth.length
  const outages = kindsOfMonth.map((kind, index): Outage => {
    const lengthMs = lengthOf(kind, random)
    const middleMs = fromMs + Math.round((index + 0.3 + random.next() * 0.3) * slotMs)
    const isAtEnd = kind === 'all gateways killed at the end of the month'
    const start = isAtEnd
      ? random.pick([fromMs, untilMs]) - random.integer(1, lengthMs - 1)
      : middleMs + random.integer(0, minuteMs)
    const model = kind === 'engine fails' || kind === 'first tokens are slow' ? random.pick(modelIds) : null
    return { kind, fromMs: start, untilMs: start + lengthMs, model }
  })
  return { month, fromMs, untilMs, gateways: random.integer(2, 3), perMinute: random.pick([0, 1, 20]), outages }
}

function lengthOf(kind: Kind, random: Random): number {
  if (kind === 'all gateways killed for 61 seconds') return 61_000
  return random.integer(70_000, random.chance(0.2) ? 3 * hourMs : 10 * minuteMs)
}
