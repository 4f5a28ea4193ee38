// Subset construction: makes the deterministic automaton of what several NFAs accept together.

import { type Alphabet, type Classes, createAlphabet } from './alphabet.ts'
import type { CodePointSet } from './code-points.ts'
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
  /** Made of the sets of each NFA's states. */
  readonly #alphabet: Alphabet
  readonly #numbersByKey = new Map<string, number>()
  /** What texts led to before ε-transitions are followed, which is often the same in several states. */
  readonly #closed = new Map<string, { readonly target: number; readonly work: number }>()
  readonly #subsets: Active[] = []
  #work = 0

  constructor(nfas: readonly Nfa[], spend: Spend) {
    this.#runners = nfas.map(runnerOf)
    this.#spend = spend
    this.#alphabet = createAlphabet(
      nfas.map(({ states }) => states.map(({ set }) => set)),
      spend,
    )
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

  /** In the order of the characters. */
  #edgesOf(active: Active): Edge[] {
    const { keys, rest } = this.#steps(active)
    const classes = [...keys.keys()].sort((left, right) => left - right)
    // The first that none of the states tells from the others stands for all of them.
    const others = classes.findIndex((one, index) => one !== index)
    const stand = others < 0 ? classes.length : others
    if (stand < this.#alphabet.size) classes.splice(stand, 0, stand)
    const byTarget = new Map<number, number[]>()
    for (const one of classes) {
      const key = one === stand ? rest : (keys.get(one) ?? null)
      if (key === null) continue
      const target = this.#close(key)
      const own = byTarget.get(target)
      if (own === undefined) byTarget.set(target, [one])
      else own.push(one)
    }
    return [...byTarget].map(([target, own]) => ({ set: this.#setOf(own, classes, stand), target }))
  }

  #setOf(own: readonly number[], classes: readonly number[], stand: number): CodePointSet {
    if (!own.includes(stand)) return this.#alphabet.of(own)
    const kept = new Set(own)
    return this.#alphabet.without(classes.filter((one) => !kept.has(one)))
  }

  /**
   * The states that each NFA reads a character into, as a key for each class that some state reads and another does not,
   * and one for the rest. Null where an NFA can no longer be satisfied.
   */
  #steps(active: Active): Steps {
    const steps: Steps = { keys: new Map(), rest: '' }
    let work = 1
    for (const [index, { nfa }] of this.#runners.entries()) {
      const readers = readersOf(this.#alphabet.classes[index] ?? [], nfa, active[index] ?? [])
      // An NFA that must not match and no longer can is out of the way.
      addReaders(steps, readers, nfa.isNegated)
      work += steps.keys.size + readers.work
    }
    this.#count(work)
    return steps
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

/** Where the active states of an NFA read on: whatever the character, and by its class. */
type Readers = { readonly always: string; readonly sometimes: ReadonlyMap<number, string>; readonly work: number }

function readersOf(classes: readonly Classes[], { states }: Nfa, active: readonly number[]): Readers {
  let always = ''
  const sometimes = new Map<number, string>()
  let work = 0
  for (const id of active) {
    const { set = null, next = 0 } = states[id] ?? {}
    if (set === null) continue
    const own = classes[id] ?? null
    if (own === null) always += `${next},`
    else for (const one of own) sometimes.set(one, `${sometimes.get(one) ?? ''}${next},`)
    work += 1 + (own?.length ?? 0)
  }
  return { always, sometimes, work }
}

type Steps = { readonly keys: Map<number, string | null>; rest: string | null }

function addReaders(steps: Steps, { always, sometimes }: Readers, mayBeOut: boolean): void {
  const { keys } = steps
  for (const one of sometimes.keys()) if (!keys.has(one)) keys.set(one, steps.rest)
  const following = always === '' && !mayBeOut ? null : `${always};`
  for (const [one, key] of keys) {
    const own = sometimes.get(one)
    const read = own === undefined ? following : `${always}${own};`
    keys.set(one, key === null || read === null ? null : key + read)
  }
  steps.rest = steps.rest === null || following === null ? null : steps.rest + following
}

function tooComplex(): PatternError {
  return new PatternError('unsupported pattern: it is too complex')
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
