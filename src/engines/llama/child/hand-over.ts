import type { GenerationEvent } from '../../../core/generation.ts'
import type { EventBatch, TaskId } from '../ipc.ts'

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
}

/** Hands on what answers are made of. */
export class HandOver {
  readonly #send: (batch: EventBatch) => void
  readonly #nowMs: () => number
  #outbox: EventBatch[number][] = []
  #sentMs = -Infinity

  constructor(send: (batch: EventBatch) => void, nowMs: () => number = () => performance.now()) {
    this.#send = send
    this.#nowMs = nowMs
  }

  /** Takes what was made of a task, which may be over by now; of an aborted one nothing is handed on any more. */
  collect(task: EventsOfTask): void {
    if (task.isAborted) return void task.events.splice(0)
    task.eventsInFlight += task.events.length
    for (const event of task.events.splice(0)) this.#outbox.push([task.id, event])
  }

  /** Hands on all that is there, if it is time: more of a text can wait, where one begins or an answer is over cannot. */
  proceed(running: readonly EventsOfTask[]): void {
    const isAnyOver = this.#outbox.length > 0
    const isMoreThanText = running.some(({ events }) => events.some(({ type }) => type !== 'delta'))
    if (isAnyOver || isMoreThanText || this.#nowMs() - this.#sentMs >= pauseMsMin) this.flush(running)
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
