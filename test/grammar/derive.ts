import type { Grammar, Sequence, Term } from './parse-gbnf.ts'

/** A number from 0 up to, and without, `below`. */
export type Random = (below: number) => number

/** Numbers that look random and are the same in every run. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Steps after which a derivation takes the shortest way to its end. */
const freeSteps = 400

/** Derives random texts from a grammar. */
export function createDeriver(grammar: Grammar, random: Random): () => string {
  const depths = ruleDepths(grammar)

  function depthOf(sequence: Sequence): number {
    return sequence.reduce((deepest, term) => Math.max(deepest, termDepth(term, depths)), 0)
  }

  return () => {
    let steps = 0

    function choose(alternatives: readonly Sequence[]): string {
      steps += 1
      const shortest = alternatives.toSorted((left, right) => depthOf(left) - depthOf(right))[0] ?? []
      const sequence = steps > freeSteps ? shortest : (alternatives[random(alternatives.length)] ?? [])
      return sequence.map(derive).join('')
    }

    function derive(term: Term): string {
      switch (term.kind) {
        case 'text':
          return term.text
        case 'class':
          return characterOf(term, random)
        case 'rule':
          return choose(grammar.get(term.name) ?? [])
        case 'group':
          return choose(term.alternatives)
        case 'repeat': {
          const free = steps > freeSteps ? 0 : random(Math.min(term.max - term.min, 4) + 1)
          return Array.from({ length: term.min + free }, () => derive(term.term)).join('')
        }
      }
    }

    return choose(grammar.get('root') ?? [])
  }
}

/** How many rules deep the shallowest text of each rule is. */
function ruleDepths(grammar: Grammar): ReadonlyMap<string, number> {
  const depths = new Map<string, number>([...grammar.keys()].map((name) => [name, Infinity]))
  for (let hasChanged = true; hasChanged;) {
    hasChanged = false
    for (const [name, alternatives] of grammar) {
      const depths1 = alternatives.map((sequence) =>
        sequence.reduce((deepest, term) => Math.max(deepest, termDepth(term, depths)), 0),
      )
      const depth = 1 + Math.min(...depths1)
      if (depth >= (depths.get(name) ?? Infinity)) continue
      depths.set(name, depth)
      hasChanged = true
    }
  }
  for (const [name, depth] of depths) if (depth === Infinity) throw new Error(`Rule ${name} never ends.`)
  return depths
}

function termDepth(term: Term, depths: ReadonlyMap<string, number>): number {
  switch (term.kind) {
    case 'text':
    case 'class':
      return 0
    case 'rule':
      return depths.get(term.name) ?? Infinity
    case 'group':
      return Math.min(
        ...term.alternatives.map((sequence) =>
          sequence.reduce((deepest, inner) => Math.max(deepest, termDepth(inner, depths)), 0),
        ),
      )
    case 'repeat':
      return term.min === 0 ? 0 : termDepth(term.term, depths)
  }
}

const interesting = [0x20, 0x2f, 0x41, 0x61, 0x7a, 0x7f, 0xe9, 0x2028, 0xfffd, 0x1f600, 0x10ffff]

function characterOf(term: Term & { kind: 'class' }, random: Random): string {
  const includes = (point: number): boolean => term.ranges.some(([first, last]) => point >= first && point <= last)
  if (term.isNegated) {
    const points = interesting.filter((point) => !includes(point))
    return String.fromCodePoint(points[random(points.length)] ?? 0x78)
  }
  const [first, last] = term.ranges[random(term.ranges.length)] ?? [0x78, 0x78]
  const edges = [first, last, first + random(Math.min(last - first, 200) + 1)]
  return String.fromCodePoint(edges[random(edges.length)] ?? first)
}
