// The names that a property may not have, as an automaton: a trie, so that names with the same beginning share its states.

import { everything } from './code-points.ts'
import { emptyState, type Nfa, type Spend, type State } from './nfa.ts'

/**
 * More states than this make a grammar that takes longer than a request should wait. What begins like one of the names
 * for as many characters as fit is then excluded as well: a property that is left out is always one less to check.
 */
const statesMost = 1_500

type Node = { readonly next: Map<number, Node>; isEnd: boolean }

/** An automaton for every text but the given ones, and maybe some that begin like them. */
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
  let level: { readonly node: Node; readonly state: number }[] = [{ node: trieOf(texts, spend), state: 0 }]
  while (level.length > 0) {
    const next: typeof level = []
    const width = level.reduce((sum, { node }) => sum + node.next.size, 0)
    const isCut = states.length + 2 * width > 2 * statesMost
    for (const { node, state } of level) {
      const { epsilon } = states[state] ?? emptyState()
      if (node.isEnd) epsilon.push(final)
      if (isCut && node.next.size > 0) epsilon.push(absorbing)
      for (const [point, child] of isCut ? [] : node.next) {
        const target = add({})
        epsilon.push(add({ set: [[point, point]], next: target }))
        next.push({ node: child, state: target })
      }
    }
    level = next
  }
  return { states, final, absorbing, isNegated: true }
}

function trieOf(texts: readonly string[], spend: Spend): Node {
  const root: Node = { next: new Map(), isEnd: false }
  for (const text of texts) {
    let node = root
    for (const character of text) {
      spend(1)
      const point = character.codePointAt(0) ?? 0
      const child = node.next.get(point) ?? { next: new Map(), isEnd: false }
      node.next.set(point, child)
      node = child
    }
    node.isEnd = true
  }
  return root
}
