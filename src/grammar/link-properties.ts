import type { GrammarBuilder } from './grammar-builder.ts'
import { comma } from './json-rules.ts'
import { times } from './repetition.ts'

export type Chain = {
  readonly members: readonly { readonly rule: string; readonly isRequired: boolean }[]
  /** The rule of a property that may follow any number of times; null for none. */
  readonly extra: string | null
  readonly min: number
  readonly max: number
}

/** Texts longer than this become rules of their own before they are used twice. */
const inlineCharactersMax = 32

/** The text that leads from a link to the end, by the number of properties before it; null where none does. */
type Links = ReadonlyMap<number, string | null>

/** What follows the `{` of an object; null where the bounds leave nothing. */
export function linkProperties(builder: GrammarBuilder, chain: Chain): string | null {
  const counts = reachableCounts(chain)
  let links: Links = new Map((counts.at(-1) ?? []).map((count) => [count, endOf(builder, chain, count)]))
  for (const [index, member] of [...chain.members.entries()].toReversed()) {
    const following = links
    links = new Map((counts[index] ?? []).map((count) => [count, linkOf(builder, chain, { member, count, following })]))
  }
  return links.get(0) ?? null
}

type Link = { readonly member: Chain['members'][number]; readonly count: number; readonly following: Links }

function linkOf(builder: GrammarBuilder, chain: Chain, { member, count, following }: Link): string | null {
  const next = count < chain.max ? (following.get(nextCount(chain, count)) ?? null) : null
  const skip = member.isRequired ? null : (following.get(count) ?? null)
  if (next === null) return skip
  const taken = `${count === 0 ? '' : `${comma} `}${member.rule}`
  if (skip === null) return `${taken} ${next}`
  const hint = 'rest'
  return builder.rule(hint, `${taken} ${short(builder, hint, next)} | ${short(builder, hint, skip)}`)
}

function short(builder: GrammarBuilder, hint: string, text: string): string {
  return text.length > inlineCharactersMax ? builder.rule(hint, text) : text
}

/** Counts above what any bound asks about are one and the same. */
function nextCount({ min, max }: Chain, count: number): number {
  return Math.min(count + 1, Math.max(1, min, Number.isFinite(max) ? max : 0))
}

/** For each place in the chain, how many properties may stand before it. */
function reachableCounts(chain: Chain): number[][] {
  const reachable: number[][] = [[0]]
  for (const { isRequired } of chain.members) {
    const before = reachable.at(-1) ?? []
    const after = before.filter((count) => count < chain.max).map((count) => nextCount(chain, count))
    reachable.push([...new Set(isRequired ? after : [...before, ...after])])
  }
  return reachable
}

function endOf(builder: GrammarBuilder, { extra, min, max }: Chain, count: number): string | null {
  const needed = min - count
  const room = max - count
  const close = '"}"'
  if (extra === null || room <= 0) return needed > 0 ? null : close
  // Two extra properties may have the same name and then count as one.
  if (needed > 1) return null
  const next = builder.rule('next', `${comma} ${extra}`)
  if (count > 0) return `${next}${times(Math.max(0, needed), room)} ${close}`
  const some = `${extra} ${next}${times(0, room - 1)}`
  return `${needed > 0 ? some : `(${some})?`} ${close}`
}
