import { untilIdle } from './busy.ts'
import type { Contestant } from './contestant.ts'
import type { Measure, Row } from './measures.ts'
import type { WriteText } from './texts.ts'

/** What one contestant had in each round, null where it has no such value. */
export type Column = { readonly contestant: string; readonly values: (number | null)[] }
export type RowResult = { readonly row: Row; readonly columns: readonly Column[] }

/**
 * Every measure in every round, by one contestant after the other, each round begun by
 * another one: a machine that slows down meanwhile does so for all of them.
 */
export async function runRounds(
  measures: readonly Measure[],
  contestants: readonly Contestant[],
  write: WriteText,
  { rounds, idlePercent }: { readonly rounds: number; readonly idlePercent: number },
): Promise<RowResult[]> {
  const results = measures.map(({ rows }) =>
    rows.map((row) => ({ row, columns: contestants.map(({ name }): Column => ({ contestant: name, values: [] })) })),
  )
  for (let round = 0; round < rounds; round++) {
    for (const [index, measure] of measures.entries()) {
      for (let turn = 0; turn < contestants.length; turn++) {
        const at = (round + turn) % contestants.length
        const contestant = contestants[at]!
        await untilIdle(idlePercent)
        const values = await measure.read(contestant, write, `round ${round + 1}`)
        results[index]!.forEach(({ columns }, row) => columns[at]!.values.push(values[row] ?? null))
        console.error(`round ${round + 1}, ${contestant.name}: ${describe(measure.rows, values)}`)
      }
    }
  }
  return results.flat()
}

function describe(rows: readonly Row[], values: readonly (number | null)[]): string {
  return rows.map(({ name, unit }, index) => `${name} ${values[index]?.toFixed(1) ?? '–'} ${unit}`).join('; ')
}
