import { percentile, type Reading } from './reading.ts'
import { eventShapes, isSame, type Shape, type ShapeOptions } from './shapes.ts'

/** Those whose times the others' are divided by, as far as they were measured. */
const bases = ['direct', 'nginx'] as const

/** A line for every time of every reading: to the first text of a stream, and to the end. */
export function latencyTable(readings: readonly Reading[]): string {
  const present = bases.filter((base) => readings.some(({ target }) => target === base))
  const ratioHeads = present.flatMap((base) => [`P50 / ${base}`, `P99 / ${base}`])
  const heads = ['A second', 'Prompt', 'Time to', 'Of', 'P50', 'P99', 'added P50', 'added P99', ...ratioHeads]
  const all = [...heads, 'CPU a request', 'Peak MiB', 'Requests', 'failed', 'Asker late P99']
  const shapes = readings.flatMap(({ shape }, index) =>
    readings.findIndex((reading) => isSame(reading.shape, shape)) === index ? [shape] : [],
  )
  const lines = shapes.flatMap((shape) => {
    const here = readings.filter((reading) => isSame(reading.shape, shape))
    return timesOf(shape).flatMap((time) => here.map((reading) => lineOf(reading, here, { time, present })))
  })
  return toMarkdown(all, lines, 4)
}

type Time = 'firstMs' | 'endMs'
type Against = { readonly time: Time; readonly present: readonly (typeof bases)[number][] }

function lineOf(reading: Reading, here: readonly Reading[], { time, present }: Against): string[] {
  const { shape, target, requests, failures, cpuMsPerRequest, peakBytes, lateMs } = reading
  const direct = target === 'direct' ? undefined : here.find((other) => other.target === 'direct')
  const at = (of: Reading, percent: number) => percentile(of[time], percent)
  const added = [50, 99].map((percent) => (direct === undefined ? '' : ms(at(reading, percent) - at(direct, percent))))
  const ratios = present.flatMap((name) => {
    const base = direct === undefined ? undefined : here.find((other) => other.target === name)
    return [50, 99].map((percent) =>
      base === undefined || base === reading ? '' : shown(at(reading, percent) / at(base, percent), 3),
    )
  })
  return [
    String(shape.perSecond),
    `${shape.promptBytes} B`,
    nameOf(shape, time),
    target,
    ms(at(reading, 50)),
    ms(at(reading, 99)),
    ...added,
    ...ratios,
    cpuMsPerRequest === null ? '' : ms(cpuMsPerRequest),
    peakBytes === null ? '' : mebibytes(peakBytes),
    String(requests),
    String(failures),
    ms(percentile(lateMs, 99)),
  ]
}

function timesOf({ isStream }: Shape): readonly Time[] {
  return isStream ? ['firstMs', 'endMs'] : ['endMs']
}

function nameOf({ isStream, tokens }: Shape, time: Time): string {
  if (!isStream) return `the answer, ${tokens} tokens`
  return time === 'firstMs' ? 'first text' : `end of stream, ${tokens} tokens`
}

/** What a target needs for an event, and the most memory it had in any reading. */
export function useTable(readings: readonly Reading[], options: ShapeOptions): string {
  const [short, long] = eventShapes(options)
  const cpuOf = (target: string, shape: Shape) =>
    readings.find((reading) => reading.target === target && isSame(reading.shape, shape))?.cpuMsPerRequest ?? null
  const targets = [...new Set(readings.map(({ target }) => target))]
  const lines = targets.map((target) => {
    const peakBytes = Math.max(...readings.map((reading) => (reading.target === target && reading.peakBytes) || 0))
    const [less, more] = [cpuOf(target, short), cpuOf(target, long)]
    const perEvent = less === null || more === null ? null : (1_000 * (more - less)) / (long.tokens - short.tokens)
    const memory = peakBytes === 0 ? '–' : mebibytes(peakBytes)
    return [target, perEvent === null ? '–' : perEvent.toFixed(1), memory]
  })
  return toMarkdown(['Of', 'CPU an event (µs)', 'Peak memory (MiB)'], lines, 1)
}

function ms(milliseconds: number): string {
  return shown(milliseconds, 2)
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

/** Where nothing was answered there is nothing to show. */
function shown(value: number, digits: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(digits)
}

function toMarkdown(heads: readonly string[], lines: readonly (readonly string[])[], texts: number): string {
  const rules = heads.map((_, index) => (index < texts ? '-' : '-:'))
  return [heads, rules, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
