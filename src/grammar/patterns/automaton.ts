// Subset construction: makes the deterministic automaton of what several NFAs accept together.

import { type CodePointRange, type CodePointSet, codePointSet, everything, includes } from './code-points.ts'
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
    const rangesByTarget = new Map<number, CodePointRange[]>()
    for (const range of elementaryRanges(this.#runners, active)) {
      const reached = this.#advance(active, range[0])
      if (reached === null) continue
      const key = keyOf(reached)
      const target = targets.get(key) ?? this.#numberOf(this.#close(reached))
      targets.set(key, target)
      const ranges = rangesByTarget.get(target)
      if (ranges === undefined) rangesByTarget.set(target, [range])
      else ranges.push(range)
    }
    return [...rangesByTarget].map(([target, ranges]) => ({ set: codePointSet(ranges), target }))
  }

  /** What each NFA reads a character into; null where one of them can no longer be satisfied. */
  #advance(active: Active, point: number): Active | null {
    const reached: (readonly number[])[] = []
    for (const [index, runner] of this.#runners.entries()) {
      const from = active[index] ?? []
      // An NFA that must not match and no longer can is out of the way.
      if (from.length > 0) this.#count(from.length + 1)
      const next = from.length > 0 ? runner.advance(from, point) : from
      if (next.length === 0 && !runner.nfa.isNegated) return null
      reached.push(next)
    }
    return reached
  }

  #close(reached: Active): Active {
    const active = reached.map((from, index) => this.#runners[index]?.closure(from, null) ?? [])
    this.#count(active.reduce((sum, ids) => sum + ids.length, 0))
    return active
  }

  #numberOf(active: Active): number {
    const key = keyOf(active)
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

function tooComplex(): PatternError {
  return new PatternError('unsupported pattern: it is too complex')
}

function keyOf(active: Active): string {
  return active.map((ids) => ids.join()).join(';')
}

/** The alphabet cut so finely that no set of an active state holds only a part of a range. */
function elementaryRanges(runners: readonly NfaRunner[], active: Active): CodePointRange[] {
  const cuts = new Set<number>()
  const addCuts = (set: CodePointSet): void => {
    for (const [first, last] of set) cuts.add(first).add(last + 1)
  }
  addCuts(everything)
  for (const [index, { nfa }] of runners.entries()) {
    for (const id of active[index] ?? []) addCuts(nfa.states[id]?.set ?? [])
  }
  const sorted = [...cuts].toSorted((left, right) => left - right)
  const ranges = sorted.map((first, index): CodePointRange => [first, (sorted[index + 1] ?? first) - 1])
  return ranges.filter(([first, last]) => first <= last && includes(everything, first))
}

function withoutDeadEnds(states: Automaton): Automaton {
  const sources = states.map((): number[] => [])
  for (const [index, { edges }] of states.entries()) for (const { target } of edges) sources[target]?.push(index)
  const living = new Set(states.keys().filter((index) => states[index]?.isAccepting === true))
  for (const index of living) for (const source of sources[index] ?? []) living.add(source)
  const order = [...living].toSorted((left, right) => left - right)
  if (order[0] !== 0) throw new PatternError('no text can satisfy this schema')
  const numbers = new Map(order.map((index, number) => [index, number]))
  return order.map((index) => ({
    isAccepting: states[index]?.isAccepting === true,
    edges: (states[index]?.edges ?? []).flatMap(({ set, target }) => {
      const number = numbers.get(target)
      return number === undefined ? [] : [{ set, target: number }]
    }),
  }))
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
