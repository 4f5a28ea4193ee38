import type { Body, Context } from './context.ts'
import { anyJsonArray, comma } from './json-rules.ts'
import { repeated } from './repetition.ts'
import { repetitionMax } from './schema/schema-limits.ts'
import {
  eachKeyword,
  faultAt,
  impossible,
  keyword,
  listed,
  type Part,
  sizeMax,
  sizeMin,
  toPart,
} from './schema/schema-part.ts'

/** What an array consists of: the first items each by their own parts, the others all by the same. */
type ItemParts = { readonly first: readonly (readonly Part[])[]; readonly others: readonly Part[] | null }

export function compileArray(context: Context, parts: readonly Part[], hint: string): Body {
  const { builder } = context
  const min = sizeMin(parts, 'minItems')
  const max = itemsMax(context, parts)
  if (min > repetitionMax) throw tooMany(parts, 'minItems')
  refuseUnique(context, parts, max)
  const items = itemParts(context, parts, { min, max })
  if (min > max || (items.others === null && min > items.first.length)) throw impossible(parts)
  if (items.others?.length === 0 && items.first.length === 0 && min === 0 && max === Infinity) {
    return { text: anyJsonArray(builder), own: brackets, needs: [] }
  }
  const first = items.first.map((item) => context.value(item, hint))
  const leading = first.join(` ${comma} `)
  const left = { min: Math.max(0, min - first.length), max: max - first.length }
  const own = brackets + Math.max(0, first.length + left.min - 1)
  const needs = first.map((value) => ({ value, times: 1 }))
  if (items.others === null || left.max <= 0) {
    return { text: builder.rule(hint, ['"["', leading, '"]"'].join(' ')), own, needs }
  }
  const other = context.value(items.others, `${hint}-item`)
  // A rule, because the native parser limits how much a repeated group may contain.
  const next = builder.rule('next', `${comma} ${other}`)
  if (left.min > 0) needs.push({ value: other, times: left.min })
  if (first.length > 0) {
    return { text: builder.rule(hint, `"[" ${leading} ${repeated(next, left.min, left.max)} "]"`), own, needs }
  }
  const some = `${other} ${repeated(next, Math.max(0, left.min - 1), left.max - 1)}`
  return { text: builder.rule(hint, `"[" ${left.min > 0 ? some : `(${some})?`} "]"`), own, needs }
}

const brackets = 2

function itemParts(context: Context, parts: readonly Part[], size: { min: number; max: number }): ItemParts {
  const tuples = parts.map((part) => ({ part, items: tupleOf(part) }))
  const longest = Math.max(0, ...tuples.map(({ items }) => items.length))
  const first: Part[][] = []
  for (let index = 0; index < Math.min(longest, size.max); index++) {
    const own = tuples.flatMap(({ part, items }) =>
      items.slice(index, index + 1).concat(index < items.length ? [] : rest(part)),
    )
    const item = context.flatten(own)
    if (context.isImpossible(item)) return { first, others: null }
    first.push(item)
  }
  const others = context.flatten(parts.flatMap(rest))
  // After a tuple, items that nothing describes are not generated unless a length demands them.
  const isOpen = longest === 0 || size.min > longest || parts.some((part) => rest(part).length > 0)
  return { first, others: isOpen && !context.isImpossible(others) ? others : null }
}

/** `prefixItems`, which before 2020-12 was written as a list in `items`. */
function tupleOf(part: Part): Part[] {
  if (keyword(part.schema, 'prefixItems') !== undefined) return listed(part, 'prefixItems')
  return Array.isArray(keyword(part.schema, 'items')) ? listed(part, 'items') : []
}

function rest(part: Part): Part[] {
  const isTuple = Array.isArray(keyword(part.schema, 'items'))
  const name = isTuple ? 'additionalItems' : 'items'
  const value = keyword(part.schema, name)
  return value === undefined ? [] : [toPart(value, [...part.path, name])]
}

function itemsMax({ relax }: Context, parts: readonly Part[]): number {
  const max = sizeMax(parts, 'maxItems')
  if (max === Infinity || max <= repetitionMax) return max
  for (const { part } of eachKeyword(parts, 'maxItems')) relax(part, 'maxItems', tooManyMessage)
  return Infinity
}

const tooManyMessage = `more than ${repetitionMax} is not supported`

function tooMany(parts: readonly Part[], name: string): Error {
  const [found] = eachKeyword(parts, name)
  return found === undefined ? impossible(parts) : faultAt(found.part, name, tooManyMessage)
}

function refuseUnique({ relax }: Context, parts: readonly Part[], max: number): void {
  if (max <= 1) return
  for (const { part, value } of eachKeyword(parts, 'uniqueItems')) {
    if (value === true) relax(part, 'uniqueItems', 'items that must differ are not supported')
  }
}
