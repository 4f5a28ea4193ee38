import { chainStart, hashAuditRow } from '../../db/audit-chain.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import { GrowingTree, hashLeaf, type TreeHash } from '../../lib/merkle-tree.ts'

export type AuditFault = {
  readonly kind: 'edited' | 'missing' | 'inserted' | 'unlinked' | 'shortened' | 'rewritten' | 'forged' | 'unwitnessed'
  /** Where in the chain, as far as it has a place there. */
  readonly sequence: number | null
  readonly message: string
}

/** Where a chain had come to, and the hash of the row there. */
export type ChainPosition = { readonly sequence: number; readonly hash: string }

/** A place that the chain is known to have come to, and from what. */
export type KnownPosition = ChainPosition & { readonly from: string }

/** The root of the tree over the first `size` rows, as somebody signed it. */
export type KnownRoot = { readonly size: number; readonly root: TreeHash; readonly from: string }

/** What stands for a row in the tree. */
export function auditLeaf(rowHash: string): TreeHash {
  return hashLeaf(Buffer.from(rowHash, 'hex'))
}

/** Where everything is wrong, the first of them say enough. */
export const faultsMax = 1_000

/** Follows the rows of a chain, one after the other, and notes what is wrong with them. */
export class ChainWalk {
  rows = 0
  /** Of which only the hash is left. */
  deleted = 0
  /** The last row, with the hash that it should have. */
  through: ChainPosition | null = null
  readonly faults: AuditFault[] = []
  readonly #known: ReadonlyMap<number, readonly KnownPosition[]>
  readonly #roots: ReadonlyMap<number, readonly KnownRoot[]>
  readonly #tree = new GrowingTree()
  /** The rows up to here are those that were signed for. */
  #vouchedTo = 0
  readonly #countedTo: number
  /** A null hash may be followed by any row. */
  #last: { readonly sequence: number; readonly hash: string | null }

  /** Goes on where another walk came to; the row there is expected once more, and not counted again. */
  constructor(known: readonly KnownPosition[], after: ChainPosition | null, roots: readonly KnownRoot[] = []) {
    this.#known = Map.groupBy(known, ({ sequence }) => sequence)
    // A tree has all rows from the first: who goes on in the midst cannot tell its roots.
    this.#roots = Map.groupBy(after === null ? roots : [], ({ size }) => size)
    this.#countedTo = after?.sequence ?? 0
    this.#last = after === null ? { sequence: 0, hash: chainStart } : { sequence: after.sequence - 1, hash: null }
  }

  add(row: AuditTable): void {
    const sequence = row.sequence ?? 0
    const previous = this.#last
    this.#last = { sequence, hash: row.hash }
    if (sequence > this.#countedTo) this.rows += 1
    const hash = hashAuditRow(row, { sequence, previous_hash: row.previous_hash ?? '' })
    this.through = { sequence, hash }
    if (hash !== row.hash) {
      this.report('edited', sequence, `Row ${sequence} (${row.id}) is not what was written.`)
    }
    if (sequence !== previous.sequence + 1) this.#reportMissing(previous.sequence + 1, sequence - 1)
    else if (previous.hash !== null && row.previous_hash !== previous.hash) {
      this.report('unlinked', sequence, `Row ${sequence} (${row.id}) does not follow the row before it.`)
    }
    this.#compareKnown(sequence, row.hash ?? '')
  }

  /** Goes over a row that was deleted: what was in it cannot be told any more, but that its hash is the one that was signed for. */
  addDeleted(sequence: number, hash: string): void {
    this.#last = { sequence, hash }
    this.through = { sequence, hash }
    if (sequence > this.#countedTo) this.deleted += 1
    this.#compareKnown(sequence, hash)
  }

  #compareKnown(sequence: number, hash: string): void {
    for (const known of this.#known.get(sequence) ?? []) {
      if (known.hash === hash) continue
      this.report('rewritten', sequence, `Row ${sequence} is not the one that was ${known.from}.`)
    }
    if (this.#roots.size > 0) this.#compareRoots(sequence, hash)
  }

  #compareRoots(sequence: number, rowHash: string): void {
    this.#tree.add(auditLeaf(rowHash))
    const known = this.#roots.get(sequence) ?? []
    const wrong = known.find(({ root }) => !root.equals(this.#tree.root()))
    if (wrong === undefined) {
      if (known.length > 0) this.#vouchedTo = sequence
      return
    }
    const from = this.#vouchedTo + 1
    const rows = from === sequence ? `Row ${from} is` : `Of the rows ${from} to ${sequence} one at least is`
    this.report('rewritten', from, `${rows} not as it was ${wrong.from}.`)
    this.#vouchedTo = sequence
  }

  /** Called once all rows were added, with the end as the database notes it. */
  end({ sequence: endNow }: ChainPosition): void {
    const sequence = this.through?.sequence ?? Math.min(this.#last.sequence, endNow)
    const expected = Math.max(...this.#known.keys(), ...this.#roots.keys())
    if (sequence < expected) {
      this.report('shortened', sequence + 1, `The chain ends at row ${sequence}, but had come to row ${expected}.`)
    }
    if (sequence > endNow) {
      this.report('inserted', endNow + 1, `There are rows up to ${sequence}, but the chain ends at ${endNow}.`)
    }
  }

  /** Called with the last row that the audit says was deleted, and with the last that a checkpoint speaks of where that is known. */
  endDeleted(deletedTo: number, { told, signed }: { readonly told: number; readonly signed: number | null }): void {
    if (told < deletedTo) {
      const from = told + 1
      this.report('missing', from, `Rows ${from} to ${deletedTo} were deleted, and no row says so.`)
    }
    if (signed !== null && signed < deletedTo) {
      const from = signed + 1
      this.report('missing', from, `Rows ${from} to ${deletedTo} were deleted, and no checkpoint speaks of them.`)
    }
  }

  report(kind: AuditFault['kind'], sequence: number | null, message: string): void {
    if (this.faults.length < faultsMax) this.faults.push({ kind, sequence, message })
  }

  #reportMissing(from: number, to: number): void {
    this.report('missing', from, from === to ? `Row ${from} is missing.` : `Rows ${from} to ${to} are missing.`)
  }
}
