/** Tokens of one block: fewer would make the index larger, more would overlook what two prompts share. */
export const blockTokens = 64

/** Of the blocks of a replica that forgot some. */
const keptShare = 0.8

/**
 * The hashes of a prompt's whole blocks, each of which stands for everything before it too.
 *
 * The seed is the organization: what was computed for one is never looked for by another. 52 bits of two independent
 * mixes make a likeness by chance one in 10¹⁰ among a million blocks, and it would cost a wrong guess, no wrong answer.
 */
export type BlockChain = Float64Array

export function hashBlocks(tokens: Uint32Array, seed: string): BlockChain {
  const chain = new Float64Array(Math.floor(tokens.length / blockTokens))
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let at = 0; at < seed.length; at++) low = Math.imul(low ^ seed.charCodeAt(at), 0x01000193)
  for (let block = 0; block < chain.length; block++) {
    const start = block * blockTokens
    for (let at = start; at < start + blockTokens; at++) {
      const token = tokens[at] ?? 0
      low = Math.imul(low ^ token, 0x85ebca6b)
      low ^= low >>> 13
      high = Math.imul(high ^ token, 0xc2b2ae35)
      high ^= high >>> 16
    }
    chain[block] = (low >>> 0) * 2 ** 20 + ((high ^ low) >>> 12)
  }
  return chain
}

/**
 * The blocks that one replica is believed to hold, least lately used first.
 *
 * A block is only held behind the blocks before it, so how much of a prompt is there can be found by halving.
 */
export class BlockIndex {
  readonly #blocks = new Set<number>()
  #blocksMax = 0
  #version = 0

  constructor(tokensMax: number) {
    this.resize(tokensMax)
  }

  /** The replica can hold so many tokens. */
  resize(tokensMax: number): void {
    this.#blocksMax = Math.max(1, Math.floor(tokensMax / blockTokens))
  }

  /** Another one whenever a prompt may be held to another length. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#blocks.size
  }

  /** How many of a prompt's blocks are held. */
  depth(chain: BlockChain): number {
    // Most replicas hold nothing of a prompt, or all that there is of it.
    if (chain.length === 0 || !this.#blocks.has(chain[0] ?? 0)) return 0
    let held = 1
    let missing = chain.length + 1
    while (missing - held > 1) {
      const middle = (held + missing) >>> 1
      if (this.#blocks.has(chain[middle - 1] ?? 0)) held = middle
      else missing = middle
    }
    return held
  }

  /** A prompt is computed there: all its blocks are held, and its first ones are forgotten last. */
  add(chain: BlockChain): void {
    for (let at = chain.length - 1; at >= 0; at--) {
      const block = chain[at] ?? 0
      this.#blocks.delete(block)
      this.#blocks.add(block)
    }
    this.#version += 1
    for (const block of this.#blocks) {
      if (this.#blocks.size <= this.#blocksMax) return
      this.#blocks.delete(block)
    }
  }

  /**
   * The replica had forgotten what it was believed to hold, and others like it: what was used longest ago is given up.
   *
   * Which of them it has forgotten nobody tells; each such report halves what is wrong in a few steps.
   */
  forgetOldest(): void {
    const kept = Math.floor(this.#blocks.size * keptShare)
    for (const block of this.#blocks) {
      if (this.#blocks.size <= kept) break
      this.#blocks.delete(block)
    }
    this.#version += 1
  }

  /** Its memory is empty: it was started anew. */
  clear(): void {
    this.#blocks.clear()
    this.#version += 1
  }
}
