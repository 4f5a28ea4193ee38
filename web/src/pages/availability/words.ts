import type { Schemas } from '../../api/types.ts'

/** Rounded down, so that 100 % is whole. */
export function percentOf(ppm: number | null): string {
  return ppm === null ? 'nothing came' : `${(Math.floor(ppm / 10) / 1_000).toFixed(3)} %`
}

export function promiseInWords({
  id,
  availabilityPpm,
  basis,
  firstTokenMs,
  credits,
}: Schemas['AvailabilityMonth']['objective']): string {
  if (id === null) return `Nothing; measured by ${percentOf(availabilityPpm)} of ${basis}`
  const first = firstTokenMs === null ? '' : `, the first token within ${firstTokenMs} ms`
  const steps = credits.map(({ belowPpm, percent }) => `${percent} % of the charges below ${percentOf(belowPpm)}`)
  const back = steps.length === 0 ? '' : `. Given back: ${steps.join(', ')}`
  return `${percentOf(availabilityPpm)} of ${basis}${first}${back}`
}

const words: Readonly<Record<string, string>> = {
  gateway: 'the service did not run',
  requests: 'requests failed',
  model: 'the model did not answer',
  'model:engine-failed': 'the model failed',
  'model:overloaded': 'the model took no requests',
  'model:no-answer': 'the model did not answer in time',
}

export function causesInWords(causes: readonly string[]): string {
  return causes.map((cause) => words[cause] ?? cause.replace('model:', 'the model answered with ')).join(', ')
}
