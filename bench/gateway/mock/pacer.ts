export type Pace = { readonly firstTokenMs: number; readonly tokensPerSecond: number }

export type Due<Answer> = {
  readonly answer: Answer
  readonly tokens: number
  readonly isFirst: boolean
  readonly isLast: boolean
}

type Progress = { readonly tokens: number; made: number; nextMs: number }

/** Finer than this no timer is. */
const tickMs = 1

/**
 * Says when the tokens of answers are due: what is due at the same tick is told together,
 * as an engine tells what one step has given all its answers.
 */
export class Pacer<Answer> {
  readonly #pace: Pace
  readonly #onDue: (due: readonly Due<Answer>[]) => void
  readonly #answers = new Map<Answer, Progress>()
  #isTicking = false

  constructor(pace: Pace, onDue: (due: readonly Due<Answer>[]) => void) {
    this.#pace = pace
    this.#onDue = onDue
  }

  get underWay(): number {
    return this.#answers.size
  }

  begin(answer: Answer, tokens: number): void {
    this.#answers.set(answer, { tokens, made: 0, nextMs: performance.now() + this.#pace.firstTokenMs })
    if (!this.#isTicking) this.#tickLater()
  }

  /** Whether the answer was under way. */
  leave(answer: Answer): boolean {
    return this.#answers.delete(answer)
  }

  #tickLater(): void {
    this.#isTicking = true
    setTimeout(() => this.#tick(), tickMs)
  }

  #tick(): void {
    const nowMs = performance.now()
    const due: Due<Answer>[] = []
    for (const [answer, progress] of this.#answers) {
      if (progress.nextMs > nowMs) continue
      due.push({ answer, ...this.#advance(progress, nowMs) })
      if (progress.made === progress.tokens) this.#answers.delete(answer)
    }
    if (due.length > 0) this.#onDue(due)
    if (this.#answers.size > 0) this.#tickLater()
    else this.#isTicking = false
  }

  /** What a late tick has missed comes at once, so that a busy machine makes no answer longer than it is. */
  #advance(progress: Progress, nowMs: number): Omit<Due<Answer>, 'answer'> {
    const before = progress.made
    while (progress.nextMs <= nowMs && progress.made < progress.tokens) {
      progress.made += 1
      progress.nextMs += 1_000 / this.#pace.tokensPerSecond
    }
    return { tokens: progress.made - before, isFirst: before === 0, isLast: progress.made === progress.tokens }
  }
}
