import type { Pace } from './pacer.ts'

/** By which variable the programs of the bench are told how fast the mock answers. */
export const paceVariable = 'ODYSSEY_BENCH_PACE'

export function readPace(): Pace {
  const text = process.env[paceVariable]
  if (text === undefined) throw new Error(`${paceVariable} is not set.`)
  return JSON.parse(text) as Pace
}
