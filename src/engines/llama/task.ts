import type { ApiErrorReason } from '../../core/error.ts'
import type { GenerationEvent, Usage } from '../../core/generation.ts'
import { createAsyncQueue } from '../../lib/async-queue.ts'
import { eventsInFlightMax, type TaskId } from './ipc.ts'

/** What happens to a task, in order. */
export type TaskNews =
  | { readonly kind: 'event'; readonly event: GenerationEvent }
  | { readonly kind: 'counted'; readonly tokens: number }
  | { readonly kind: 'aborted'; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly reason: ApiErrorReason; readonly message: string }
  | { readonly kind: 'crashed' }

/** The child may run ahead by `eventsInFlightMax`, so it must hear of what was taken well before that. */
const reportSize = eventsInFlightMax / 4

/** The service's side of one generation or count. */
export class Task {
  readonly id: TaskId
  readonly #news = createAsyncQueue<TaskNews>()
  #hasStarted = false
  #untold = 0

  constructor(id: TaskId) {
    this.id = id
  }

  /** A slot has taken it: after that a crash cannot be hidden from the client. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  tell(news: TaskNews): void {
    if (news.kind === 'event') this.#hasStarted = true
    this.#news.push(news)
  }

  async next(): Promise<TaskNews> {
    const news = await this.#news.next()
    if (news.kind === 'event') this.#untold += 1
    return news
  }

  /** How many taken events the child should now hear of; zero while too few. */
  takenToReport(): number {
    if (this.#untold < reportSize) return 0
    const taken = this.#untold
    this.#untold = 0
    return taken
  }
}
