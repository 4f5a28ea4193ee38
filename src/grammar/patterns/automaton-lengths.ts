import type { Automaton, Lengths } from './automaton.ts'

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
