import type { Usage } from '../../core/generation.ts'
import type { TokenColumns } from '../../db/tables/billing.ts'

export const tokenColumns = [
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_long',
  'output',
  'output_thinking',
] as const satisfies readonly (keyof TokenColumns)[]

export function toTokenColumns(usage: Usage): TokenColumns {
  return {
    input_uncached: usage.inputUncached,
    input_cache_read: usage.inputCacheRead,
    input_cache_write: usage.inputCacheWrite,
    input_cache_write_long: usage.inputCacheWriteLong,
    output: usage.output,
    output_thinking: usage.outputThinking,
  }
}

export function fromTokenColumns(row: TokenColumns): Usage {
  return {
    inputUncached: row.input_uncached,
    inputCacheRead: row.input_cache_read,
    inputCacheWrite: row.input_cache_write,
    inputCacheWriteLong: row.input_cache_write_long,
    output: row.output,
    outputThinking: row.output_thinking,
  }
}
