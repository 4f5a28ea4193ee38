// The names that a property may not have, as an automaton: a trie, so that names with the same beginning share its states.

import type { Automaton, AutomatonState, Edge } from './automaton.ts'
import { type CodePointSet, codePointSet, complement, everything, includes } from './code-points.ts'
import { emptyState, type Nfa, type Spend, type State } from './nfa.ts'

/**
 * More states than this make a grammar that takes longer than a request should wait. What begins like one of the names
 * for as many characters as fit is then excluded as well: a property that is left out is always one less to check.
 */
const statesMost = 1_500

/** What a state counts as in the work of a compilation, for the rule it becomes. */
const stateWork = 20

/** Where it is cut, whatever follows is excluded. */
type Node = { readonly next: Map<number, Node>; isEnd: boolean; isCut: boolean }

const lastNode: Node = { next: new Map(), isEnd: true, isCut: false }

/** An NFA for every text but the given ones, and maybe some that begin like them. */
export function excludingNfa(texts: readonly string[], spend: Spend): Nfa {
  // After the state in which names begin: the one in which they end, and two that take whatever follows.
  const [final, absorbing, again] = [1, 2, 3]
  const states: State[] = [
    emptyState(),
    emptyState(),
    { ...emptyState(), set: everything, next: again },
    { ...emptyState(), epsilon: [absorbing, final] },
  ]
  const add = (state: Partial<State>): number => states.push({ ...emptyState(), ...state }) - 1
  const places = [{ node: trieOf(texts, spend), state: 0 }]
  // Each place adds those behind it.
  for (const { node, state } of places) {
    const { epsilon } = states[state] ?? emptyState()
    if (node.isEnd) epsilon.push(final)
    if (node.isCut) epsilon.push(absorbing)
    for (const [point, child] of node.next) {
      const target = add({})
      epsilon.push(add({ set: single(point), next: target }))
      places.push({ node: child, state: target })
    }
  }
  return { states, final, absorbing, isNegated: true }
}

/**
 * What `determinize` makes of that NFA alone, null where it accepts nothing.
 *
 * A trie is deterministic already, and an object that says what its further properties hold excludes all of its names.
 */
export function excludingAutomaton(texts: readonly string[], spend: Spend): Automaton | null {
  const root = trieOf(texts, spend)
  if (root.isCut) return null
  const places: (Node | null)[] = []
  const numbers = new Map<Node | null, number>()
  const numberOf = (node: Node | null): number => {
    // Behind a name that no other begins with, all names are alike.
    const place = node !== null && node.isEnd && node.next.size === 0 ? lastNode : node
    const known = numbers.get(place) ?? places.push(place) - 1
    numbers.set(place, known)
    return known
  }
  numberOf(root)
  const states: AutomatonState[] = []
  // Each place may add others behind it. Null is where no name can come of a text any more.
  for (const node of places) {
    spend(stateWork + (node?.next.size ?? 0))
    const edges = node === null ? [{ set: everything, target: numberOf(null) }] : edgesOf(node, numberOf)
    states.push({ isAccepting: node?.isEnd !== true, edges })
  }
  return states
}

/** In the order of the characters, where the one for all others begins with the first of them. */
function edgesOf({ next }: Node, numberOf: (node: Node | null) => number): Edge[] {
  const children = [...next]
    .filter(([point]) => includes(everything, point))
    .toSorted(([left], [right]) => left - right)
  const before = children.findIndex(([point], index) => point !== index)
  const rest = before < 0 ? children.length : before
  const set = complement(children.map(([point]) => [point, point]))
  const ways: [CodePointSet, Node | null][] = children.map(([point, child]) => [single(point), child])
  ways.splice(rest, 0, [set, null])
  const sets = new Map<number, CodePointSet>()
  for (const [chars, node] of ways) {
    if (node?.isCut === true) continue
    const target = numberOf(node)
    const known = sets.get(target)
    sets.set(target, known === undefined ? chars : codePointSet([...known, ...chars]))
  }
  return [...sets].map(([target, chars]) => ({ set: chars, target }))
}

function single(point: number): CodePointSet {
  return [[point, point]]
}

/** The trie of the texts, cut at the first level that would make it too large. */
function trieOf(texts: readonly string[], spend: Spend): Node {
  const root: Node = { next: new Map(), isEnd: false, isCut: false }
  for (const text of texts) {
    let node = root
    for (const character of text) {
      spend(1)
      const point = character.codePointAt(0) ?? 0
      const child = node.next.get(point) ?? { next: new Map(), isEnd: false, isCut: false }
      node.next.set(point, child)
      node = child
    }
    node.isEnd = true
  }
  let count = 2
  for (let level = [root]; level.length > 0; level = level.flatMap(({ next }) => [...next.values()])) {
    count += level.reduce((sum, { next }) => sum + next.size, 0)
    if (count > statesMost) level.forEach(cut)
  }
  return root
}

function cut(node: Node): void {
  if (node.next.size === 0) return
  node.isCut = true
  node.next.clear()
}
