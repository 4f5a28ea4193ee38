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
  if (max === Infinity || max <= repetitionMax) return item + times(min, max)
  const free = max - min
  const blocks = Math.floor(free / repetitionMax)
  const rest = free % repetitionMax
  const block = builder.rule('block', `${item}{${repetitionMax}}`)
  const fewer = `${block}{0,${blocks - 1}} ${item}{0,${repetitionMax - 1}}`
  const most = `${block}{${blocks}} ${item}{0,${rest}}`
  const head = min === 0 ? '' : `${item}{${min}} `
  if (blocks === 0) return `${head}${item}{0,${free}}`
  return head + builder.rule('blocks', `${fewer} | ${most}`)
}

/** The GBNF suffix of a repetition. */
export function times(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : `{${min},}`
  return `{${min},${max}}`
}
