import { type CodePointRange, type CodePointSet, codePointSet, everything, includes } from './code-points.ts'
import type { Nfa, Spend } from './nfa.ts'
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

/** Where the machines are after some text. In `counted` the length matters up to a bound. */
type Situation = { readonly places: readonly (readonly number[])[]; readonly counted: number }

/**
 * One automaton for the texts that satisfy every machine and whose length lies within the bounds.
 *
 * A grammar made from it follows a single path through any text. Written as
 * nested repetitions, a pattern can make the sampler follow thousands at once.
 */
export function determinize(nfas: readonly Nfa[], lengths: Lengths, spend: Spend): Automaton {
  let work = 0

  function count(amount: number): void {
    work += amount
    spend(amount)
    if (work > workMax) throw new PatternError('unsupported pattern: it is too complex')
  }

  const lengthMax = Number.isFinite(lengths.max) ? lengths.max : lengths.min
  const numbersByKey = new Map<string, number>()
  const situations: Situation[] = []
  const states: { isAccepting: boolean; edges: Edge[] }[] = []

  function numberOf(situation: Situation): number {
    const key = `${situation.counted};${situation.places.map((places) => places.join()).join(';')}`
    const known = numbersByKey.get(key)
    if (known !== undefined) return known
    if (situations.length >= statesMax) throw new PatternError('unsupported pattern: it is too complex')
    numbersByKey.set(key, situations.length)
    return situations.push(situation) - 1
  }

  /** Null where some machine can no longer be satisfied. */
  function after(situation: Situation, point: number): Situation | null {
    const places: (readonly number[])[] = []
    for (const [index, nfa] of nfas.entries()) {
      const from = situation.places[index] ?? []
      count(from.length + 1)
      const reached = advance(nfa, from, point)
      if (reached.length === 0 && !nfa.isNegated) return null
      const inside = closure(nfa, reached, null)
      count(inside.length)
      places.push(inside)
    }
    return { places, counted: Math.min(situation.counted + 1, lengthMax) }
  }

  function edgesOf(situation: Situation): Edge[] {
    if (situation.counted >= lengths.max) return []
    const rangesByTarget = new Map<number, CodePointRange[]>()
    for (const range of elementaryRanges(nfas, situation.places)) {
      const next = after(situation, range[0])
      if (next === null) continue
      const target = numberOf(next)
      const ranges = rangesByTarget.get(target)
      if (ranges === undefined) rangesByTarget.set(target, [range])
      else ranges.push(range)
    }
    return [...rangesByTarget].map(([target, ranges]) => ({ set: codePointSet(ranges), target }))
  }

  numberOf({ places: nfas.map((nfa) => closure(nfa, [0], 'start')), counted: 0 })
  for (let index = 0; index < situations.length; index++) {
    const situation = situations[index]
    if (situation === undefined) break
    spend(stateWork)
    const isSatisfied = nfas.every((nfa, at) => isAtEnd(nfa, situation.places[at] ?? []) !== nfa.isNegated)
    states.push({ isAccepting: isSatisfied && situation.counted >= lengths.min, edges: edgesOf(situation) })
  }
  return withoutDeadEnds(states)
}

/** Whether a text satisfies a machine. */
export function isMatch(nfa: Nfa, text: string, spend: Spend): boolean {
  let places = closure(nfa, [0], 'start')
  for (const character of text) {
    spend(places.length + 1)
    places = closure(nfa, advance(nfa, places, character.codePointAt(0) ?? 0), null)
  }
  return isAtEnd(nfa, places) !== nfa.isNegated
}

function advance(nfa: Nfa, places: readonly number[], point: number): number[] {
  const reached: number[] = []
  for (const place of places) {
    const state = nfa.states[place]
    if (state !== undefined && state.set !== null && includes(state.set, point)) reached.push(state.next)
  }
  return reached
}

/** The states that matter after free steps: those that read a character, wait for the end, or are final. */
function closure(nfa: Nfa, from: readonly number[], at: 'start' | 'end' | null): readonly number[] {
  const seen = new Set(from)
  const kept: number[] = []
  for (const id of seen) {
    const state = nfa.states[id]
    if (state === undefined) continue
    if (state.set !== null || state.place === 'end' || id === nfa.final) kept.push(id)
    if (state.place !== null && state.place !== at) continue
    for (const next of state.free) seen.add(next)
  }
  if (nfa.absorbing !== null && seen.has(nfa.absorbing)) return [nfa.absorbing, nfa.final]
  return kept.toSorted((left, right) => left - right)
}

function isAtEnd(nfa: Nfa, places: readonly number[]): boolean {
  return closure(nfa, places, 'end').includes(nfa.final)
}

/** The alphabet cut so finely that no set of the states in `places` holds only a part of a range. */
function elementaryRanges(nfas: readonly Nfa[], places: readonly (readonly number[])[]): CodePointRange[] {
  const cuts = new Set<number>()
  const addCuts = (set: CodePointSet): void => {
    for (const [first, last] of set) cuts.add(first).add(last + 1)
  }
  addCuts(everything)
  for (const [index, nfa] of nfas.entries()) {
    for (const id of places[index] ?? []) addCuts(nfa.states[id]?.set ?? [])
  }
  const sorted = [...cuts].toSorted((left, right) => left - right)
  const ranges = sorted.map((first, index): CodePointRange => [first, (sorted[index + 1] ?? first) - 1])
  return ranges.filter(([first, last]) => first <= last && includes(everything, first))
}

function withoutDeadEnds(states: Automaton): Automaton {
  const sources = new Map<number, number[]>()
  for (const [index, { edges }] of states.entries()) {
    for (const { target } of edges) sources.set(target, [...(sources.get(target) ?? []), index])
  }
  const living = new Set(states.keys().filter((index) => states[index]?.isAccepting === true))
  for (const index of living) for (const source of sources.get(index) ?? []) living.add(source)
  const order = [...living].toSorted((left, right) => left - right)
  if (order[0] !== 0) throw new PatternError('no text can satisfy this schema')
  const places = new Map(order.map((index, place) => [index, place]))
  return order.map((index) => ({
    isAccepting: states[index]?.isAccepting === true,
    edges: (states[index]?.edges ?? []).flatMap(({ set, target }) => {
      const place = places.get(target)
      return place === undefined ? [] : [{ set, target: place }]
    }),
  }))
}
