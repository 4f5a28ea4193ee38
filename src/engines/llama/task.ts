import type { Turn, TurnTerms } from '../../core/engine.ts'
import type { ApiErrorReason } from '../../core/error.ts'
import type { GenerationEvent, Usage } from '../../core/generation.ts'
import { createAsyncQueue } from '../../lib/async-queue.ts'
import { eventsInFlightMax, type HeadStart, type TaskId } from './ipc.ts'

/** What happens to a task, in order. */
export type TaskNews =
  | { readonly kind: 'prepared'; readonly inputTokens: number }
  | { readonly kind: 'event'; readonly event: GenerationEvent }
  | { readonly kind: 'aborted'; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly reason: ApiErrorReason; readonly message: string }
  | { readonly kind: 'crashed' }
  /** Its turn will not come. */
  | { readonly kind: 'refused'; readonly error: unknown }

/** The child may run ahead by `eventsInFlightMax`, so it must hear of what was taken well before that. */
const reportSize = eventsInFlightMax / 4

/** The service's side of one generation. */
export class Task {
  readonly id: TaskId
  /** On what terms the child may begin without another word; null where it waits for one. */
  readonly headStart: HeadStart | null
  readonly #turn: Turn | null
  readonly #news = createAsyncQueue<TaskNews>()
  #hasStarted = false
  #isWaiting = false
  #untold = 0

  constructor(id: TaskId, turn: Turn | null, inputTokensMax: number | null) {
    this.id = id
    this.#turn = turn
    const terms = inputTokensMax === null ? null : (turn?.beginUncounted?.(inputTokensMax) ?? null)
    this.headStart = terms === null || inputTokensMax === null ? null : { ...terms, inputTokensMax }
  }

  /** It is prepared and its turn has not come: whatever the child does meanwhile is not its doing. */
  get isWaiting(): boolean {
    return this.#isWaiting
  }

  /** A slot has taken it: after that a crash cannot be hidden from the client. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  tell(news: TaskNews): void {
    if (news.kind === 'event') {
      this.#hasStarted = true
      this.#turn?.made(news.event)
    }
    this.#news.push(news)
  }

  /** Whether a prepared task has begun already, as it was allowed to. */
  takesHeadStart(inputTokens: number): boolean {
    if (this.headStart === null || inputTokens > this.headStart.inputTokensMax) return false
    this.#turn?.counted?.(inputTokens)
    return true
  }

  /** Waits until a prepared task may begin. Where it may not, the answer is null and the reason is among the news. */
  async awaitTurn(inputTokens: number): Promise<Partial<TurnTerms> | null> {
    this.#isWaiting = true
    try {
      const terms = await this.#turn?.begin(inputTokens)
      this.#isWaiting = false
      return terms ?? {}
    } catch (error) {
      this.tell({ kind: 'refused', error })
      return null
    }
  }

  next(): Promise<TaskNews> {
    return this.#news.next()
  }

  /** For each event that is taken: how many of them the child should now hear of; zero while too few. */
  takenToReport(): number {
    this.#untold += 1
    if (this.#untold < reportSize) return 0
    const taken = this.#untold
    this.#untold = 0
    return taken
  }
}
