import { includes } from './code-points.ts'
import type { Anchor, Nfa, Spend } from './nfa.ts'

/** Whether a text satisfies an NFA. */
export function isMatch(nfa: Nfa, text: string, spend: Spend): boolean {
  return runnerOf(nfa).isSatisfied(read(nfa, text, spend))
}

/** Whether a text that begins so may lead an NFA to its end. */
export function mayBegin(nfa: Nfa, text: string, spend: Spend): boolean {
  return read(nfa, text, spend).length > 0
}

/** The states that a text leads to. */
function read(nfa: Nfa, text: string, spend: Spend): readonly number[] {
  const runner = runnerOf(nfa)
  let active = runner.closure([0], 'start')
  for (const character of text) {
    // Nothing leads out of no state, and to most patterns a name has come so far after its first characters.
    if (active.length === 0) break
    spend(active.length + 1)
    active = runner.closure(runner.advance(active, character.codePointAt(0) ?? 0), null)
  }
  return active
}

/** What every text begins with that leads an NFA to its end. */
export function literalStart(nfa: Nfa, spend: Spend): string {
  const runner = runnerOf(nfa)
  let text = ''
  for (let active = runner.closure([0], 'start'); active.length === 1;) {
    spend(1)
    const set = nfa.states[active[0] ?? 0]?.set ?? []
    const [first, last] = set[0] ?? [0, 1]
    if (set.length !== 1 || first !== last) break
    text += String.fromCodePoint(first)
    active = runner.closure(runner.advance(active, first), null)
  }
  return text
}

const runners = new WeakMap<Nfa, NfaRunner>()

/** The runner of an NFA: names and values are tried against the same few, and each has memory of its own. */
export function runnerOf(nfa: Nfa): NfaRunner {
  const known = runners.get(nfa) ?? new NfaRunner(nfa)
  runners.set(nfa, known)
  return known
}

/** Reads characters with one NFA, all its active states at once. */
export class NfaRunner {
  readonly nfa: Nfa
  /** The round in which a state was last visited; a set made anew for each step would take most of the time. */
  readonly #visited: Uint32Array
  #round = 0

  constructor(nfa: Nfa) {
    this.nfa = nfa
    this.#visited = new Uint32Array(nfa.states.length)
  }

  /** The states that a character leads to, ε-transitions not followed yet. */
  advance(active: readonly number[], point: number): number[] {
    const reached: number[] = []
    for (const id of active) {
      const state = this.nfa.states[id]
      if (state !== undefined && state.set !== null && includes(state.set, point)) reached.push(state.next)
    }
    return reached
  }

  /** The ε-closure, of which only states matter that read a character, wait for the end, or are final. */
  closure(from: readonly number[], at: Anchor | null): readonly number[] {
    const { states, final, absorbing } = this.nfa
    this.#round += 1
    const open = from.filter((id) => this.#visit(id))
    const kept: number[] = []
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === absorbing) return [absorbing, final]
      const state = states[id]
      if (state === undefined) continue
      if (state.set !== null || state.anchor === 'end' || id === final) kept.push(id)
      if (state.anchor !== null && state.anchor !== at) continue
      for (const next of state.epsilon) if (this.#visit(next)) open.push(next)
    }
    return kept.sort((left, right) => left - right)
  }

  /** Whether a text that ends here is one that the NFA is for. */
  isSatisfied(active: readonly number[]): boolean {
    const { states, final, isNegated } = this.nfa
    const isFinal =
      active.includes(final) ||
      (active.some((id) => states[id]?.anchor === 'end') && this.closure(active, 'end').includes(final))
    return isFinal !== isNegated
  }

  /** False where the state was visited in this round before. */
  #visit(id: number): boolean {
    if (this.#visited[id] === this.#round) return false
    this.#visited[id] = this.#round
    return true
  }
}
