import type { GenerationEvent } from '../../../core/generation.ts'
import type { TaskId } from '../ipc.ts'

/**
 * What quick steps make is handed on together, no more often than this.
 *
 * Where threads compute on all processors, each message takes one from them while it is written, read and sent on to a client:
 * on two processors one answer of 120 tokens/s gained a fiftieth. Fifty messages a second are more than a reader sees.
 */
const pauseMsMin = 20

export type EventsOfTask = {
  readonly id: TaskId
  readonly isAborted: boolean
  /** What was made of it and is not collected yet. */
  readonly events: GenerationEvent[]
  /** Events that were collected and that its consumer has not taken. */
  eventsInFlight: number
  readonly writer: { readonly outputTokens: number }
}

/** Hands on what answers are made of. */
export class HandOver {
  readonly #send: (batch: readonly (readonly [TaskId, GenerationEvent])[]) => void
  readonly #nowMs: () => number
  #outbox: (readonly [TaskId, GenerationEvent])[] = []
  #sentMs = -Infinity

  constructor(
    send: (batch: readonly (readonly [TaskId, GenerationEvent])[]) => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#send = send
    this.#nowMs = nowMs
  }

  /** Takes the last events of a task that is over; of an aborted one nothing is handed on any more. */
  collect(task: EventsOfTask): void {
    if (task.isAborted) return void task.events.splice(0)
    task.eventsInFlight += task.events.length
    for (const event of task.events.splice(0)) this.#outbox.push([task.id, event])
  }

  /** Hands on what is there of those that are over and of all that run, if it is time: the first token of an answer and its end wait for nothing. */
  proceed(running: readonly EventsOfTask[]): void {
    const isAnyOver = this.#outbox.length > 0
    const isAnyFirst = running.some(({ writer }) => writer.outputTokens <= 1)
    if (isAnyOver || isAnyFirst || this.#nowMs() - this.#sentMs >= pauseMsMin) this.flush(running)
  }

  /** Hands on all that is there. */
  flush(running: readonly EventsOfTask[]): void {
    this.#sentMs = this.#nowMs()
    for (const task of running) this.collect(task)
    if (this.#outbox.length === 0) return
    this.#send(this.#outbox)
    this.#outbox = []
  }
}
