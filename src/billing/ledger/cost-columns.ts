import { picosPerMicro } from '../../core/money.ts'
import type { CostColumns } from '../../db/tables/billing.ts'

/** Neither column has more than a JavaScript number keeps exactly, as a single one of pico-units would. */
export function toCostColumns(picos: bigint): { readonly cost_micros: number; readonly cost_rest_picos: number } {
  return { cost_micros: Number(picos / picosPerMicro), cost_rest_picos: Number(picos % picosPerMicro) }
}

/** The cost of a row in pico-units; null where there was no price. */
export function fromCostColumns({ cost_micros: micros, cost_rest_picos: rest }: CostColumns): bigint | null {
  return micros === null ? null : BigInt(micros) * picosPerMicro + BigInt(rest ?? 0)
}
