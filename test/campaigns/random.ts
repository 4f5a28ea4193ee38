/** Random choices that are the same for the same seed, on every machine. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** Both ends included. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

/**
 * Cases that run at the same time must not draw from one sequence, or the order in
 * which they happen to run would change them; each takes its own, by its number.
 */
export function createRandom(seed: number, caseNumber = 0): Random {
  let state = scramble(scramble(seed >>> 0) ^ Math.imul(caseNumber + 1, 0x9e37_79b9))
  const next = () => {
    state = (state + 0x6d2b_79f5) >>> 0
    return scramble(state) / 2 ** 32
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new Error('There is nothing to pick from.')
      return items[integer(0, items.length - 1)] as Item
    },
  }
}

/** The output function of mulberry32: every bit of the input reaches every bit of the result. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 15), value | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return (mixed ^ (mixed >>> 14)) >>> 0
}
