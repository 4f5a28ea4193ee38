/** Tokens of a prompt, by how many others they look back to. */
export type Stretch = { readonly tokens: number; readonly position: number }

/** A mean that follows a change within some fifty steps: what a position costs is the weights' own, and no neighbour changes it. */
const newest = 0.02
const stepsMin = 8
/** Steps whose positions differ by less, as a part of their mean or at all, tell nothing of what a position costs. */
const spreadMin = { share: 0.25, positions: 64 }
/** SmolLM2 on one thread, behind 900 others: 15.6 ms a token in steps of 63, 10.0 in steps of 64, and 7.3 at the beginning. */
const tiledShare = 1 / 3
/** Where a position costs as much as a token, nothing but positions counts. */
const shareMost = 1

/**
 * Knows how much longer a token of a prompt takes the further back it looks.
 *
 * A token is multiplied with the weights and compared with every token before it. With small weights the second
 * is soon most of it: 50 tokens took 3 ms at the beginning of a prompt and 40 behind 2,000 others, and a step that was to take 15 ms
 * as often took 60. Work is therefore counted in units, of which a token at the mean position of late is one.
 */
export class PositionWeights {
  readonly #times = new FittedTimes()
  readonly #tileTokens: number
  #share = 0
  #count = 0
  #position = 0
  #positionSquared = 0

  /** From so many tokens of a prompt on the library compares them with others in tiles, at less for each; Infinity where it never does. */
  constructor(tileTokens = Infinity) {
    this.#tileTokens = tileTokens
  }

  /** Whether all tokens count alike, as they do until steps at different positions are known. */
  get isUniform(): boolean {
    return this.#share === 0
  }

  unitsOf(stretch: Stretch): number {
    return (stretch.tokens + this.#share * this.#reachOf(stretch)) / this.#unit
  }

  /** How many tokens behind a position so many units are; not a whole number. */
  tokensWithin(units: number, position: number): number {
    const tiled = this.#tokensWithin(units, position, this.#share * tiledShare)
    if (tiled >= this.#tileTokens) return tiled
    return Math.min(this.#tileTokens - 1, this.#tokensWithin(units, position, this.#share))
  }

  #tokensWithin(units: number, position: number, share: number): number {
    if (share === 0) return units
    const first = 1 + share * position
    return (Math.sqrt(first * first + 2 * share * units * this.#unit) - first) / share
  }

  /** Notes how long a step took in which these stretches were computed. */
  add(stretches: readonly Stretch[], ms: number): void {
    const sum = (of: (stretch: Stretch) => number) => stretches.reduce((total, stretch) => total + of(stretch), 0)
    const tokens = sum((stretch) => stretch.tokens)
    const position = sum((stretch) => stretch.tokens * stretch.position) / tokens
    this.#count += 1
    const weight = Math.max(newest, 1 / this.#count)
    this.#position += (position - this.#position) * weight
    this.#positionSquared += (position * position - this.#positionSquared) * weight
    this.#times.add({ tokens, reach: sum((stretch) => this.#reachOf(stretch)), ms }, weight)
    const spread = Math.sqrt(Math.max(0, this.#positionSquared - this.#position ** 2))
    if (this.#count < stepsMin || spread < Math.max(spreadMin.positions, this.#position * spreadMin.share)) return
    this.#share = this.#times.shareOfReach(shareMost) ?? this.#share
  }

  get #unit(): number {
    return 1 + this.#share * this.#position
  }

  /** How many others the tokens of a stretch are compared with, each its own, together; in tiles they count for less. */
  #reachOf({ tokens, position }: Stretch): number {
    return tokens * (position + tokens / 2) * (tokens >= this.#tileTokens ? tiledShare : 1)
  }
}

/** Fits what a step takes by itself, for each of its tokens, and for each of their reach. A step counts for as much less as it is longer. */
class FittedTimes {
  /** Means of 1, tokens and reach, each times these and the time: a row for each equation. */
  readonly #means = Array.from({ length: 3 }, () => [0, 0, 0, 0])

  /** `weight` is the new step's part of the means. */
  add({ tokens, reach, ms }: { tokens: number; reach: number; ms: number }, weight: number): void {
    const values = [1, tokens, reach, ms]
    for (const [row, means] of this.#means.entries())
      for (const [column, mean] of means.entries()) {
        const product = ((values[row] ?? 0) * (values[column] ?? 0)) / Math.max(1, ms) ** 2
        means[column] = mean + (product - mean) * weight
      }
  }

  /** What one of reach takes as a part of what a token takes, `most` at most; null where the steps do not tell. */
  shareOfReach(most: number): number | null {
    const factors = solve(this.#means)
    if (factors === null) return null
    const [, perToken = 0, perReach = 0] = factors
    if (perReach <= 0) return 0
    return perToken <= 0 ? most : Math.min(most, perReach / perToken)
  }
}

/** Below this part of what it was, a number that is left over is a rounding error. */
const negligible = 1e-6

/** Solves as many linear equations as there are rows, the last column being their right side; null where they depend on each other. */
function solve(equations: readonly (readonly number[])[]): number[] | null {
  const rows = equations.map((row) => [...row])
  for (const [at, row] of rows.entries()) {
    const pivot = row[at] ?? 0
    if (pivot <= (equations[at]?.[at] ?? 0) * negligible) return null
    for (const [column, value] of row.entries()) row[column] = value / pivot
    for (const other of rows) if (other !== row) subtract(other, row, other[at] ?? 0)
  }
  return rows.map((row) => row.at(-1) ?? 0)
}

function subtract(from: number[], row: readonly number[], times: number): void {
  for (const [column, value] of row.entries()) from[column] = (from[column] ?? 0) - times * value
}
