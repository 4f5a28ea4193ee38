import { type GrammarBuilder, isRule } from './grammar-builder.ts'
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

/** The most of a repetition that are written as rules one by one. */
const chainMost = 256
/** How many items a block has, or how many blocks a larger one. */
const blockItems = 128

/**
 * An item from `min` to `max` times, as `repeat` has it, and what closes it.
 *
 * An item that is a rule of several forms, as a character of a JSON string is, stands first in a rule for each that may still
 * come. A number behind such an item costs xgrammar 20 milliseconds a token, and two seconds where the number is above 128:
 * it writes out the forms of a rule that stands first, and of no other, and looks the tokens up that such a rule can begin with.
 * Where a block ends it takes as long as with a number, so that blocks are for repetitions whose rules alone would take it long.
 */
export function closedRepetition(
  builder: GrammarBuilder,
  item: string,
  bounds: { min: number; max: number },
  close: string,
): string {
  if (!isRule(item)) return `${repeat(builder, item, bounds)} ${close}`
  const { min, max } = bounds
  const rest =
    max === Infinity ? builder.rule('rest', `${item}* ${close}`) : atMost({ builder, item, close }, max - min)
  return exactly({ builder, item }, min, rest)
}

type Repeated = { readonly builder: GrammarBuilder; readonly item: string }
type Closed = Repeated & { readonly close: string }

function atMost(closed: Closed, count: number): string {
  const { builder, item, close } = closed
  if (count <= chainMost) {
    let rest = close
    for (let left = 0; left < count; left++) rest = builder.rule('rest', `${close} | ${item} ${rest}`)
    return rest
  }
  const size = blockSizeFor(count)
  const block = blockOf(closed, size)
  const blocks = Math.floor(count / size)
  const fewer = `${repeated(block, 0, blocks - 1)} ${atMost(closed, size - 1)}`
  const most = `${block}{${blocks}} ${atMost(closed, count % size)}`
  return builder.rule('rest', `${fewer} | ${most}`)
}

/** An item so many times, and then what follows. */
function exactly({ builder, item }: Repeated, count: number, rest: string): string {
  if (count > chainMost) {
    const behind = exactly({ builder, item }, count % blockItems, rest)
    return `${blockOf({ builder, item }, blockItems)}{${Math.floor(count / blockItems)}} ${behind}`
  }
  let text = rest
  for (let left = 0; left < count; left++) text = builder.rule('more', `${item} ${text}`)
  return text
}

/** The smallest blocks of which no more are needed than the native parser repeats. */
function blockSizeFor(count: number): number {
  let size = blockItems
  while (count / size > repetitionMax) size *= blockItems
  return size
}

function blockOf({ builder, item }: Repeated, size: number): string {
  if (size > blockItems) return builder.rule('block', `${blockOf({ builder, item }, size / blockItems)}{${blockItems}}`)
  return exactly({ builder, item }, size - 1, builder.rule('last', item))
}

/** An item that is repeated; nothing where that is never, which not every reader of the notation has a number for. */
export function repeated(item: string, min: number, max: number): string {
  if (max === 0) return ''
  if (max === Infinity) return item + (min === 0 ? '*' : `{${min},}`)
  return `${item}{${min},${max}}`
}
