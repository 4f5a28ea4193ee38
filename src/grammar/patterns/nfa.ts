import { type CodePointSet, everything } from './code-points.ts'
import type { Pattern, PatternNode } from './pattern.ts'
import { PatternError } from './pattern-reader.ts'
import { repetitionProductMax } from '../schema/schema-limits.ts'

export type State = {
  /** The characters that lead to `next`; null at the end of the pattern and in states with ε-transitions alone. */
  readonly set: CodePointSet | null
  readonly next: number
  /** The states that ε-transitions lead to, without a character. */
  readonly epsilon: number[]
  /** The only place in a text where the ε-transitions may be taken; null for any. */
  readonly anchor: Anchor | null
}

export type Anchor = 'start' | 'end'

/** Counts work; throws when a compilation has done too much. */
export type Spend = (amount: number) => void

/** A repeated character, in a group or with a neighbour, takes a few. */
const stepsMax = 4 * repetitionProductMax

/** A nondeterministic finite automaton (NFA) of a pattern: a text matches when reading it whole can end in `final`. */
export type Nfa = {
  readonly states: readonly State[]
  readonly final: number
  /** A state that, once reached, takes whatever follows; the others then no longer matter. */
  readonly absorbing: number | null
  /** The text must not match. */
  readonly isNegated: boolean
}

const opposites = new WeakMap<Nfa, Nfa>()

/** What every text satisfies that an NFA is not for; always the same one, so that what is made of it is found again. */
export function oppositeOf(nfa: Nfa): Nfa {
  const known = opposites.get(nfa) ?? { ...nfa, isNegated: !nfa.isNegated }
  opposites.set(nfa, known)
  return known
}

const numbers = new WeakMap<Nfa, number>()
let numbered = 0

/** A number that no other NFA has. */
export function numberOf(nfa: Nfa): number {
  const number = numbers.get(nfa) ?? numbered++
  numbers.set(nfa, number)
  return number
}

/** The automata that a text must satisfy together to match a pattern. */
export function patternNfas({ node, conditions }: Pattern, spend: Spend): Nfa[] {
  const anything: PatternNode = { kind: 'repeat', item: { kind: 'set', set: everything }, min: 0, max: Infinity }
  const start: PatternNode = { kind: 'start' }
  // A pattern may match anywhere in the text unless its anchors say otherwise. What cannot begin later does not wait for it.
  const before = isAnchored(node) ? [] : [anything]
  return [
    absorbAtEnd(buildNfa({ kind: 'sequence', items: [...before, node, anything] }, spend)),
    ...conditions.map((one) => ({
      ...absorbAtEnd(buildNfa({ kind: 'sequence', items: [start, one.node, anything] }, spend)),
      isNegated: one.isNegated,
    })),
  ]
}

/** Whether a match can only begin where the text does. */
function isAnchored(node: PatternNode | undefined): boolean {
  if (node?.kind === 'sequence') return isAnchored(node.items[0])
  return node?.kind === 'start' || (node?.kind === 'choice' && node.items.every(isAnchored))
}

/** Marks the last state with a set as absorbing: it is that of the repetition of everything, in which the automaton ends. */
function absorbAtEnd(nfa: Nfa): Nfa {
  return { ...nfa, absorbing: nfa.states.findLastIndex((state) => state.set !== null) }
}

/**
 * Counted repetitions are written out: a pattern has at most as many states as
 * a product of repetitions may come to, a few for each.
 */
function buildNfa(pattern: PatternNode, spend: Spend): Nfa {
  const states: State[] = [emptyState()]
  const final = build({ states, count: createCount(spend) }, pattern, 0)
  return { states, final, absorbing: null, isNegated: false }
}

/** Counts every node that is built, also those of repeated groups that are empty and add no state. */
function createCount(spend: Spend): () => void {
  let steps = 0
  return () => {
    steps += 1
    spend(1)
    if (steps <= stepsMax) return
    throw new PatternError(`unsupported pattern: its repetitions come to more than ${repetitionProductMax}`)
  }
}

type Draft = { readonly states: State[]; readonly count: () => void }

/** Adds what leads from a state through a node, and answers with the state in which it ends. */
function build(draft: Draft, node: PatternNode, from: number): number {
  draft.count()
  switch (node.kind) {
    case 'set': {
      const end = add(draft)
      link(draft, from, add(draft, { set: node.set, next: end }))
      return end
    }
    case 'start':
    case 'end': {
      const end = add(draft)
      link(draft, from, add(draft, { anchor: node.kind, epsilon: [end] }))
      return end
    }
    case 'sequence':
      return node.items.reduce((at, item) => build(draft, item, at), from)
    case 'choice': {
      const end = add(draft)
      for (const item of node.items) {
        const first = add(draft)
        link(draft, from, first)
        link(draft, build(draft, item, first), end)
      }
      return end
    }
    case 'repeat':
      return buildRepeat(draft, node, from)
  }
}

function buildRepeat(draft: Draft, { item, min, max }: PatternNode & { kind: 'repeat' }, from: number): number {
  let at = from
  for (let done = 0; done < min; done++) at = build(draft, item, at)
  const end = add(draft)
  link(draft, at, end)
  if (max === Infinity) {
    const again = add(draft)
    link(draft, at, again)
    const last = build(draft, item, again)
    link(draft, last, again)
    link(draft, last, end)
    return end
  }
  for (let done = min; done < max; done++) {
    at = build(draft, item, at)
    link(draft, at, end)
  }
  return end
}

export function emptyState(): State {
  return { set: null, next: -1, epsilon: [], anchor: null }
}

function add({ states }: Draft, state: Partial<State> = {}): number {
  return states.push({ ...emptyState(), ...state }) - 1
}

function link({ states }: Draft, from: number, to: number): void {
  states[from]?.epsilon.push(to)
}
