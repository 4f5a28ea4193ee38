import type { GrammarBuilder } from './grammar-builder.ts'
import { repetitionMax } from './schema/schema-limits.ts'

/**
 * The longest repetition with an upper bound that `repeat` can write.
 *
 * The blocks it uses are rules, so their counts add up in the native parser and do not multiply.
 */
export const boundedRepetitionMax = repetitionMax * repetitionMax

/**
 * A rule or class, repeated from `min` to `max` times; `max` may be infinite, `min` is at most `repetitionMax`.
 *
 * The native parser takes no count above 2,000, so more is written as blocks of
 * a thousand and a rest. The blocks come first: a sampler then follows two
 * readings of a long text, where blocks after a free rest would make thousands.
 */
export function repeat(builder: GrammarBuilder, item: string, bounds: { min: number; max: number }): string {
  const { min, max } = bounds
  if (max === Infinity || max <= repetitionMax) return repeated(item, min, max)
  const free = max - min
  const blocks = Math.floor(free / repetitionMax)
  const rest = free % repetitionMax
  const block = builder.rule('block', `${item}{${repetitionMax}}`)
  const fewer = `${repeated(block, 0, blocks - 1)} ${item}{0,${repetitionMax - 1}}`
  const most = `${block}{${blocks}} ${repeated(item, 0, rest)}`
  const head = min === 0 ? '' : `${item}{${min}} `
  if (blocks === 0) return `${head}${item}{0,${free}}`
  return head + builder.rule('blocks', `${fewer} | ${most}`)
}

/** An item that is repeated; nothing where that is never, which not every reader of the notation has a number for. */
export function repeated(item: string, min: number, max: number): string {
  if (max === 0) return ''
  if (max === Infinity) return item + (min === 0 ? '*' : `{${min},}`)
  return `${item}{${min},${max}}`
}
