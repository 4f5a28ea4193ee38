// Code points that no set of a pattern tells apart are one class: a pattern has a few classes, and a set of letters
// alone may have hundreds of ranges.

import { type CodePointSet, codePointSet, everything, includes } from './code-points.ts'
import type { Spend } from './nfa.ts'

/** What a set comes to; null for one of every code point, and in the place of none. */
export type Classes = readonly number[] | null

export type Alphabet = {
  /** How many classes there are, in the order of the first code point of each. */
  readonly size: number
  /** What the sets that it was made of come to, each in its place. */
  readonly classes: readonly (readonly Classes[])[]
  /** The code points of some classes; the same object for the same ones. */
  of(classes: readonly number[]): CodePointSet
  /** The code points of all classes but some; the same object for the same ones. */
  without(classes: readonly number[]): CodePointSet
}

/** Cuts the code points that a text can hold as finely as the sets of some lists ask for. A list may have places without one. */
export function createAlphabet(lists: readonly (readonly (CodePointSet | null)[])[], spend: Spend): Alphabet {
  const sets = new Set(lists.flatMap((list) => list.filter((set) => set !== null)))
  const starts = startsOf(sets)
  const covered = new Map([...sets].map((set) => [set, coveredBy(set, starts)] as const))
  const { classes, count } = classify(starts.length, covered.values(), spend)
  const classesBySet = new Map<CodePointSet | null, Classes>()
  for (const [set, spans] of covered) {
    const own = new Set<number>()
    for (const [from, to] of spans) for (let at = from; at < to; at++) own.add(classes[at] ?? 0)
    classesBySet.set(set, own.size === count ? null : [...own])
  }
  const collect = collector(starts, classes, count)
  return {
    size: count,
    classes: lists.map((list) => list.map((set) => classesBySet.get(set) ?? null)),
    of: (some) => collect(some, 1),
    without: (some) => collect(some, 0),
  }
}

/** Where ranges begin that each set holds whole or not at all; up to the next one, or to a gap that no text holds. */
function startsOf(sets: ReadonlySet<CodePointSet>): Uint32Array {
  const cuts: number[] = []
  for (const set of [everything, ...sets]) for (const [first, last] of set) cuts.push(first, last + 1)
  const sorted = Uint32Array.from(cuts).sort()
  return sorted.filter((cut, index) => cut !== sorted[index - 1] && includes(everything, cut))
}

type Span = readonly [from: number, to: number]

/** The ranges of a set, as indexes of starts. */
function coveredBy(set: CodePointSet, starts: Uint32Array): Span[] {
  return set.map(([first, last]) => [indexFrom(starts, first), indexFrom(starts, last + 1)])
}

/** The index of the first start that is not below a point. */
function indexFrom(starts: Uint32Array, point: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? Infinity) < point) low = middle + 1
    else high = middle
  }
  return low
}

/** Ranges that are in the same sets have one class. Begins with one class for all, which each set may part. */
function classify(length: number, covered: Iterable<readonly Span[]>, spend: Spend) {
  const classes = new Uint32Array(length)
  const sizes = [length]
  for (const spans of covered) {
    const inside = new Map<number, number>()
    for (const [from, to] of spans) {
      spend(Math.ceil((to - from) / rangesPerWork))
      for (const one of classes.subarray(from, to)) inside.set(one, (inside.get(one) ?? 0) + 1)
    }
    const parted = part(sizes, inside)
    if (parted.size === 0) continue
    for (const [from, to] of spans)
      for (let at = from; at < to; at++) classes[at] = parted.get(classes[at] ?? 0) ?? classes[at] ?? 0
  }
  return { classes: inOrder(classes), count: sizes.length }
}

/** Numbers classes anew, in the order of their first ranges. */
function inOrder(classes: Uint32Array): Uint32Array {
  const numbers = new Map<number, number>()
  return classes.map((one) => {
    const number = numbers.get(one) ?? numbers.size
    numbers.set(one, number)
    return number
  })
}

/** Gives what a set holds of a class a class of its own, where it does not hold all of it. Adds the new ones' sizes. */
function part(sizes: number[], inside: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  const parted = new Map<number, number>()
  for (const [one, size] of inside) {
    const whole = sizes[one] ?? 0
    if (size === whole) continue
    sizes[one] = whole - size
    parted.set(one, sizes.push(size) - 1)
  }
  return parted
}

/** Looking at so many ranges of a set takes as long as a unit of work. */
const rangesPerWork = 8

/** Makes the sets of classes, each once. */
function collector(starts: Uint32Array, classes: Uint32Array, count: number) {
  const known = new Map<string, CodePointSet>()
  const mark = new Uint8Array(count)
  const ranges = Array.from(starts, (first, at) => {
    const end = everything.find(([, last]) => first <= last)?.[1] ?? first
    return [first, Math.min((starts[at + 1] ?? Infinity) - 1, end)] as const
  })

  function collectAnew(some: readonly number[], flag: number): CodePointSet {
    mark.fill(0)
    for (const one of some) mark[one] = 1
    return codePointSet(ranges.filter((_, at) => mark[classes[at] ?? 0] === flag))
  }

  return (some: readonly number[], flag: number): CodePointSet => {
    const key = `${flag}:${some.join()}`
    const set = known.get(key) ?? collectAnew(some, flag)
    known.set(key, set)
    return set
  }
}
