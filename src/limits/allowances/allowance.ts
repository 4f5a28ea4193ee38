/**
 * Something of which there is only so much: tokens of a minute, places, money.
 *
 *     take ──→ settle      what was taken and not used is there again
 *
 * Looking and taking are done in one turn of the event loop, so nobody comes between.
 */
export interface Allowance {
  readonly limit: number
  /** Whether what is settled and was not used can be taken again at once. */
  readonly returnsAtOnce: boolean
  /** What others have settled so long ago may not be free here yet; zero where it is. */
  readonly lagMs: number
  /** What can be taken at once. */
  free(): number
  /** The amount left altogether, here or elsewhere, as callers are told it. */
  remaining(): number
  /** What could be taken if everything that is reserved turned out to be unused. */
  left(): number
  take(amount: number): void
  /** Once for every amount taken; more may have been used than was taken. */
  settle(taken: number, used: number): void
  /** Resolves when others can take what was settled; null where they can at once. */
  returned(): Promise<void> | null
  /** Looks for more where the allowance is shared with others, or not read yet. */
  replenish(amount: number): Promise<void>
  /** Nobody here takes what was got by `replenish`: it is for others at once. */
  giveBackUntaken(): void
  /** When so much will be free; infinite where it never will be, null where nobody can know. */
  waitMs(amount: number): number | null
  resize(limit: number): void
  /** Gives back what is held of a shared allowance. */
  close(): Promise<void>
}

/** An amount to be taken of an allowance, together with others or not at all. */
export type Claim = { readonly allowance: Allowance; readonly amount: number }
