import type { RequestId } from '../../core/ids.ts'

export type SettledAmount = { readonly requestId: RequestId; readonly amount: number }

export type Told = {
  /** Given back to a bucket; below zero where more was used than had been taken. */
  readonly returned: number
  /** What was spent of a fixed allowance. */
  readonly spent: number
  /** The same by requests that were under way before the gateway knew the counter, which may have begun with their rows. */
  readonly spentByJoined: readonly SettledAmount[]
}

/** What a gateway's requests have settled of a shared allowance and the database has not been told. */
export class UntoldUse {
  #returned = 0
  #spent = 0
  #spentByJoined: readonly SettledAmount[] = []
  /** Who was under way before the shared counter was known here. */
  readonly #joined = new Set<RequestId>()

  get isEmpty(): boolean {
    return this.#returned === 0 && this.#spent === 0 && this.#spentByJoined.length === 0
  }

  get returned(): number {
    return this.#returned
  }

  get spent(): number {
    return this.#spentByJoined.reduce((sum, { amount }) => sum + amount, this.#spent)
  }

  join(requestId: RequestId): void {
    this.#joined.add(requestId)
  }

  giveBack(amount: number): void {
    this.#returned += amount
  }

  spend(amount: number, requestId?: RequestId): void {
    const hasJoined = requestId !== undefined && this.#joined.delete(requestId)
    if (hasJoined) this.#spentByJoined = [...this.#spentByJoined, { requestId, amount }]
    else this.#spent += amount
  }

  /** All of it, to be told now. */
  take(): Told {
    const told = { returned: this.#returned, spent: this.#spent, spentByJoined: this.#spentByJoined }
    this.#returned = 0
    this.#spent = 0
    this.#spentByJoined = []
    return told
  }

  /** It may have been told or not: what was used is told again, what would be given back is given up. */
  takeBack({ returned, spent, spentByJoined }: Told): void {
    this.#returned += Math.min(0, returned)
    this.#spent += spent
    this.#spentByJoined = [...spentByJoined, ...this.#spentByJoined]
  }
}
