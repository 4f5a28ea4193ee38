// The Merkle tree of RFC 6962 (certificate transparency), section 2.1: roots, inclusion proofs and consistency proofs.

import { hash } from 'node:crypto'

/** 32 bytes, of SHA-256. */
export type TreeHash = Buffer

/** Reads the root of the complete subtree with 2^level leaves that begins with leaf `index` × 2^level. */
export type SubtreeReader = (level: number, index: number) => Promise<TreeHash>

/** The root of a tree without leaves. */
export const emptyRoot: TreeHash = sha256(Buffer.of())

const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

export function hashLeaf(entry: Uint8Array): TreeHash {
  return sha256(Buffer.concat([leafPrefix, entry]))
}

export function hashNode(left: TreeHash, right: TreeHash): TreeHash {
  return sha256(Buffer.concat([nodePrefix, left, right]))
}

/** At once: an audit of a million rows takes three million of them, and a hash that is fed in parts twice the time. */
function sha256(content: Uint8Array): Buffer {
  return hash('sha256', content, 'buffer')
}

/** Adds leaves one after the other in memory that grows with the tree's height alone. */
export class GrowingTree {
  size = 0
  /** The roots of the complete subtrees that make up the tree, the largest first; each has half the leaves of one before it, or fewer. */
  readonly #subtrees: TreeHash[] = []

  add(leaf: TreeHash): void {
    let root = leaf
    // Each bit that is set at the end of the size is a subtree as large as the one made so far.
    for (let rest = this.size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      root = hashNode(this.#subtrees.pop() ?? emptyRoot, root)
    }
    this.#subtrees.push(root)
    this.size += 1
  }

  root(): TreeHash {
    const last = this.#subtrees.at(-1)
    if (last === undefined) return emptyRoot
    return this.#subtrees.slice(0, -1).reduceRight((right, left) => hashNode(left, right), last)
  }
}

/** The root of the first `size` leaves. */
export function rootOf(size: number, read: SubtreeReader): Promise<TreeHash> {
  return size === 0 ? Promise.resolve(emptyRoot) : rootOfRange(0, size, read)
}

/** The root of `count` leaves that begin with leaf `from`, which is a multiple of a power of two no smaller than `count`. */
async function rootOfRange(from: number, count: number, read: SubtreeReader): Promise<TreeHash> {
  const level = Math.log2(count)
  if (Number.isInteger(level)) return read(level, from / count)
  const left = splitOf(count)
  return hashNode(await rootOfRange(from, left, read), await rootOfRange(from + left, count - left, read))
}

/** The largest power of two that is smaller: so many leaves stand in the left subtree. */
function splitOf(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

/** What shows, together with leaf `index`, what the root of the first `size` leaves is: from the leaf upwards. */
export async function proveInclusion(index: number, size: number, read: SubtreeReader): Promise<TreeHash[]> {
  const proof: TreeHash[] = []
  let from = 0
  // From the root downwards, so the nearest of the leaf comes last.
  for (let count = size; count > 1;) {
    const left = splitOf(count)
    const isLeft = index - from < left
    proof.push(await (isLeft ? rootOfRange(from + left, count - left, read) : rootOfRange(from, left, read)))
    if (!isLeft) from += left
    count = isLeft ? left : count - left
  }
  return proof.toReversed()
}

export type InclusionProof = { readonly index: number; readonly size: number; readonly proof: readonly TreeHash[] }

/** The root that a leaf and a proof lead to; null where the proof is none for this place. */
export function rootOfInclusion(leaf: TreeHash, { index, size, proof }: InclusionProof): TreeHash | null {
  if (index < 0 || index >= size) return null
  const rest = [...proof]
  const root = climb(index, size)
  return rest.length === 0 ? root : null

  function climb(at: number, count: number): TreeHash | null {
    if (count === 1) return leaf
    const sibling = rest.pop()
    if (sibling === undefined) return null
    const left = splitOf(count)
    const below = at < left ? climb(at, left) : climb(at - left, count - left)
    if (below === null) return null
    return at < left ? hashNode(below, sibling) : hashNode(sibling, below)
  }
}

/** What shows that a tree of `size` leaves begins with the leaves of the one that had `oldSize`; at least one, and no more than `size`. */
export function proveConsistency(oldSize: number, size: number, read: SubtreeReader): Promise<TreeHash[]> {
  return prove(oldSize, { from: 0, count: size, isWhole: true })

  async function prove(
    old: number,
    { from, count, isWhole }: { readonly from: number; readonly count: number; readonly isWhole: boolean },
  ): Promise<TreeHash[]> {
    if (old === count) return isWhole ? [] : [await rootOfRange(from, count, read)]
    const left = splitOf(count)
    if (old <= left) {
      const below = await prove(old, { from, count: left, isWhole })
      return [...below, await rootOfRange(from + left, count - left, read)]
    }
    const below = await prove(old - left, { from: from + left, count: count - left, isWhole: false })
    return [...below, await rootOfRange(from, left, read)]
  }
}

export type ConsistencyProof = {
  readonly oldSize: number
  readonly oldRoot: TreeHash
  readonly size: number
  readonly root: TreeHash
  readonly proof: readonly TreeHash[]
}

/** Whether the proof shows that the larger tree begins with the smaller one. */
export function isConsistent({ oldSize, oldRoot, size, root, proof }: ConsistencyProof): boolean {
  if (oldSize < 0 || oldSize > size) return false
  if (oldSize === 0) return proof.length === 0 && oldRoot.equals(emptyRoot)
  const rest = [...proof]
  const roots = climb(oldSize, size, true)
  return roots !== null && rest.length === 0 && roots.old.equals(oldRoot) && roots.now.equals(root)

  function climb(old: number, count: number, isWhole: boolean): { old: TreeHash; now: TreeHash } | null {
    if (old === count) {
      const same = isWhole ? oldRoot : rest.pop()
      return same === undefined ? null : { old: same, now: same }
    }
    const sibling = rest.pop()
    if (sibling === undefined) return null
    const left = splitOf(count)
    if (old <= left) {
      const below = climb(old, left, isWhole)
      return below && { old: below.old, now: hashNode(below.now, sibling) }
    }
    const below = climb(old - left, count - left, false)
    return below && { old: hashNode(sibling, below.old), now: hashNode(sibling, below.now) }
  }
}
