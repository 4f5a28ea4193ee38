// Subset construction: makes the deterministic automaton of what several NFAs accept together.

import { type CodePointRange, type CodePointSet, everything, includes } from './code-points.ts'
import type { Nfa, Spend } from './nfa.ts'
import { type NfaRunner, runnerOf } from './nfa-runner.ts'
import { PatternError } from './pattern-reader.ts'

export type Edge = { readonly set: CodePointSet; readonly target: number }
export type AutomatonState = { readonly isAccepting: boolean; readonly edges: readonly Edge[] }
/** At most one way to read any text, beginning in the first state; from each state some text is accepted. */
export type Automaton = readonly AutomatonState[]

export type Lengths = { readonly min: number; readonly max: number }

/** A state becomes about 60 characters of grammar. */
const statesMax = 4_000
/** About 15 ms; patterns written by hand take less than a tenth of it. */
const workMax = 150_000
/** What a state counts as in the work of a compilation, for the rule it becomes. */
const stateWork = 20

/** The active states of each NFA, which is all that a text has led to. */
type Active = readonly (readonly number[])[]

/**
 * One automaton for the texts that satisfy every NFA and whose length lies within the bounds.
 *
 * A grammar made from it follows a single path through any text. Written as
 * nested repetitions, a pattern can make the sampler follow thousands at once.
 */
export function determinize(nfas: readonly Nfa[], lengths: Lengths, spend: Spend): Automaton {
  const free = withoutDeadEnds(new SubsetConstruction(nfas, spend).run())
  return lengths.min === 0 && lengths.max === Infinity ? free : withLengths(free, lengths, spend)
}

/** The texts of an automaton whose length lies within bounds: each of its states once for each length that matters. */
export function withLengths(free: Automaton, { min, max }: Lengths, spend: Spend): Automaton {
  const numbers = new Map<number, number>()
  const places: { readonly index: number; readonly length: number }[] = []
  const lengthMost = Number.isFinite(max) ? max : min
  const numberOf = (index: number, length: number): number => {
    const key = length * free.length + index
    const known = numbers.get(key)
    if (known !== undefined) return known
    if (places.length >= statesMax) throw tooComplex()
    numbers.set(key, places.length)
    return places.push({ index, length }) - 1
  }
  numberOf(0, 0)
  const states: AutomatonState[] = []
  // Each place may add others behind it.
  for (const { index, length } of places) {
    const { isAccepting = false, edges = [] } = free[index] ?? {}
    spend(stateWork + edges.length)
    const next = Math.min(length + 1, lengthMost)
    states.push({
      isAccepting: isAccepting && length >= min,
      edges: length < max ? edges.map(({ set, target }) => ({ set, target: numberOf(target, next) })) : [],
    })
  }
  return withoutDeadEnds(states)
}

class SubsetConstruction {
  readonly #runners: readonly NfaRunner[]
  readonly #spend: Spend
  readonly #numbersByKey = new Map<string, number>()
  /** What texts led to before ε-transitions are followed, which is often the same in several states. */
  readonly #closed = new Map<string, { readonly target: number; readonly work: number }>()
  readonly #subsets: Active[] = []
  #work = 0

  constructor(nfas: readonly Nfa[], spend: Spend) {
    this.#runners = nfas.map(runnerOf)
    this.#spend = spend
  }

  run(): Automaton {
    const states: AutomatonState[] = []
    this.#numberOf(this.#runners.map((runner) => runner.closure([0], 'start')))
    // Each subset may add others behind it.
    for (const active of this.#subsets) {
      this.#spend(stateWork)
      const isAccepting = this.#runners.every((runner, at) => runner.isSatisfied(active[at] ?? []))
      states.push({ isAccepting, edges: this.#edgesOf(active) })
    }
    return states
  }

  #edgesOf(active: Active): Edge[] {
    // Most of the ranges lead the same way, and one look at where is enough.
    const targets = new Map<string, number>()
    const rangesByTarget = new Map<number, [number, number][]>()
    const readers = this.#runners.map((runner, at) => createReaders(runner.nfa, active[at] ?? []))
    for (const [first, last] of elementaryRanges(readers.flat())) {
      const key = this.#advance(readers, first)
      if (key === null) continue
      const target = targets.get(key) ?? this.#close(key)
      targets.set(key, target)
      const ranges = rangesByTarget.get(target)
      if (ranges === undefined) rangesByTarget.set(target, [[first, last]])
      else extend(ranges, first, last)
    }
    return [...rangesByTarget].map(([target, set]) => ({ set, target }))
  }

  /** The states that each NFA reads a character into, as a key; null where one of them can no longer be satisfied. */
  #advance(readers: readonly (readonly Reader[])[], point: number): string | null {
    let key = ''
    let work = 0
    for (const [index, own] of readers.entries()) {
      // An NFA that must not match and no longer can is out of the way.
      if (own.length > 0) work += own.length + 1
      const before = key.length
      for (const reader of own) if (isReading(reader, point)) key += `${reader.next},`
      if (key.length === before && this.#runners[index]?.nfa.isNegated !== true) {
        this.#count(work)
        return null
      }
      key += ';'
    }
    this.#count(work)
    return key
  }

  #close(key: string): number {
    const known = this.#closed.get(key) ?? this.#closeAnew(key)
    this.#closed.set(key, known)
    this.#count(known.work)
    return known.target
  }

  #closeAnew(key: string): { readonly target: number; readonly work: number } {
    const reached = key.split(';').map((ids) => ids.split(',').slice(0, -1).map(Number))
    const active = this.#runners.map((runner, index) => runner.closure(reached[index] ?? [], null))
    return { target: this.#numberOf(active), work: active.reduce((sum, ids) => sum + ids.length, 0) }
  }

  #numberOf(active: Active): number {
    const key = active.join(';')
    const known = this.#numbersByKey.get(key)
    if (known !== undefined) return known
    if (this.#subsets.length >= statesMax) throw tooComplex()
    this.#numbersByKey.set(key, this.#subsets.length)
    return this.#subsets.push(active) - 1
  }

  #count(amount: number): void {
    this.#work += amount
    this.#spend(amount)
    if (this.#work > workMax) throw tooComplex()
  }
}

/** An active state that reads characters in their order: the ranges of its set below `at` are passed. */
type Reader = { readonly set: CodePointSet; readonly next: number; at: number }

function createReaders({ states }: Nfa, active: readonly number[]): Reader[] {
  return active.map((id) => ({ set: states[id]?.set ?? [], next: states[id]?.next ?? -1, at: 0 }))
}

function isReading(reader: Reader, point: number): boolean {
  const { set } = reader
  let range = set[reader.at]
  while (range !== undefined && range[1] < point) range = set[++reader.at]
  return range !== undefined && range[0] <= point
}

/** Adds a range behind others. */
function extend(ranges: [number, number][], first: number, last: number): void {
  const previous = ranges.at(-1)
  if (previous !== undefined && previous[1] + 1 === first) previous[1] = last
  else ranges.push([first, last])
}

function tooComplex(): PatternError {
  return new PatternError('unsupported pattern: it is too complex')
}

/** The alphabet cut so finely that no set of an active state holds only a part of a range. */
function elementaryRanges(readers: readonly Reader[]): CodePointRange[] {
  const cuts: number[] = []
  for (const [first, last] of everything) cuts.push(first, last + 1)
  for (const { set } of readers) for (const [first, last] of set) cuts.push(first, last + 1)
  const sorted = Uint32Array.from(cuts).sort()
  const ranges: CodePointRange[] = []
  for (const [index, first] of sorted.entries()) {
    const last = (sorted[index + 1] ?? first) - 1
    if (first <= last && includes(everything, first)) ranges.push([first, last])
  }
  return ranges
}

/** Without the states that lead to no accepted text. Throws where that is the first. */
function withoutDeadEnds(states: Automaton): Automaton {
  const isLiving = livingStates(states)
  if (isLiving[0] !== 1) throw new PatternError('no text can satisfy this schema')
  if (!isLiving.includes(0)) return states
  const numbers = new Int32Array(states.length).fill(-1)
  let count = 0
  for (const [index, flag] of isLiving.entries()) if (flag === 1) numbers[index] = count++
  const living = states.filter((_, index) => isLiving[index] === 1)
  return living.map(({ isAccepting, edges }) => ({
    isAccepting,
    edges: edges.flatMap(({ set, target }) => {
      const number = numbers[target] ?? -1
      return number < 0 ? [] : [{ set, target: number }]
    }),
  }))
}

/** 1 for each state from which some text is accepted. */
function livingStates(states: Automaton): Uint8Array {
  const isLiving = new Uint8Array(states.length)
  const sources = states.map((): number[] => [])
  const open: number[] = []
  for (const [index, { isAccepting, edges }] of states.entries()) {
    for (const { target } of edges) sources[target]?.push(index)
    if (!isAccepting) continue
    isLiving[index] = 1
    open.push(index)
  }
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const source of sources[index] ?? []) {
      if (isLiving[source] === 1) continue
      isLiving[source] = 1
      open.push(source)
    }
  }
  return isLiving
}

/** The lengths of the shortest and the longest text an automaton accepts. */
export function acceptedLengths(automaton: Automaton): Lengths {
  return { min: shortest(automaton), max: longest(automaton) }
}

function shortest(automaton: Automaton): number {
  const lengths = new Map([[0, 0]])
  for (const [index, length] of lengths) {
    if (automaton[index]?.isAccepting === true) return length
    for (const { target } of automaton[index]?.edges ?? []) if (!lengths.has(target)) lengths.set(target, length + 1)
  }
  return 0
}

/** Takes the states in an order in which every edge leads forward; a circle, which has none, makes texts endless. */
function longest(automaton: Automaton): number {
  const incoming = automaton.map(() => 0)
  const lengths = automaton.map(() => 0)
  for (const { edges } of automaton) for (const { target } of edges) incoming[target] = (incoming[target] ?? 0) + 1
  const ready = incoming[0] === 0 ? [0] : []
  let ordered = 0
  for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
    ordered += 1
    for (const { target } of automaton[index]?.edges ?? []) {
      lengths[target] = Math.max(lengths[target] ?? 0, (lengths[index] ?? 0) + 1)
      incoming[target] = (incoming[target] ?? 0) - 1
      if (incoming[target] === 0) ready.push(target)
    }
  }
  return ordered < automaton.length ? Infinity : Math.max(...lengths)
}
