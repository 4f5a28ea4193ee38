// Every slot's tokens are decoded together, a step at a time:
//
//     take waiting tasks into free slots
//     assemble one batch: one token of each running answer, a share of each prompt
//     decode it, sample where an answer goes on, hand out what came of it
//
// Between two steps the loop is at rest, so an abort takes effect within one step.

import type { FinishReason, GenerationEvent, Usage } from '../../../core/generation.ts'
import { eventsInFlightMax, type TaskId } from '../ipc.ts'
import type { LogitIndex, Native } from './native.ts'
import type { Task } from './task.ts'

export type DecodeLoopOutput = {
  events(batch: readonly (readonly [TaskId, GenerationEvent])[]): void
  aborted(id: TaskId, usage: Usage): void
  /** One answer cannot go on; the others do. */
  failed(id: TaskId, error: unknown): void
}

/** A task's share of a batch; `logit` is where it is sampled, null while its prompt goes on. */
type Chunk = { readonly task: Task; readonly logit: LogitIndex | null }

export class DecodeLoop {
  readonly #native: Native
  readonly #output: DecodeLoopOutput
  readonly #slots: (Task | null)[]
  readonly #waiting: Task[] = []
  #outbox: (readonly [TaskId, GenerationEvent])[] = []
  #wake: () => void = () => {}
  #steps = 0

  constructor(native: Native, output: DecodeLoopOutput) {
    this.#native = native
    this.#output = output
    this.#slots = Array.from({ length: native.slots }, () => null)
  }

  /** Decode steps so far. */
  get steps(): number {
    return this.#steps
  }

  get isBusy(): boolean {
    return this.#slots.some((task) => task !== null && isRunnable(task))
  }

  submit(task: Task): void {
    this.#waiting.push(task)
    this.#wake()
  }

  abort(id: TaskId): void {
    const task = this.#find(id)
    if (task === undefined) return
    task.isAborted = true
    const index = this.#waiting.indexOf(task)
    if (index !== -1) {
      this.#waiting.splice(index, 1)
      this.#output.aborted(id, task.writer.usage())
    }
    this.#wake()
  }

  /** The consumer took events of a task; a task that waited for that goes on. */
  taken(id: TaskId, events: number): void {
    const task = this.#find(id)
    if (task !== undefined) task.eventsInFlight -= events
    this.#wake()
  }

  /** Rejects when decoding itself fails: the process is then of no further use. */
  async run(): Promise<never> {
    for (;;) {
      this.#dropAborted()
      this.#fillSlots()
      this.#flush()
      if (this.isBusy) await this.#step()
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #find(id: TaskId): Task | undefined {
    return this.#slots.find((task) => task?.id === id) ?? this.#waiting.find((task) => task.id === id)
  }

  #dropAborted(): void {
    for (const task of this.#slots) {
      if (task === null || !task.isAborted) continue
      this.#release(task)
      this.#output.aborted(task.id, task.writer.usage())
    }
  }

  #fillSlots(): void {
    for (const [index, occupant] of this.#slots.entries()) {
      if (occupant !== null) continue
      const task = this.#waiting.shift()
      if (task === undefined) return
      this.#slots[index] = task
      task.chooser = task.createChooser()
      if (task.writer.isAnswering) task.steering.beginAnswer(task.chooser)
      else task.steering.beginThinking(task.chooser)
      task.writer.start()
    }
  }

  async #step(): Promise<void> {
    const chunks = this.#assemble()
    await this.#native.context.decodeBatch()
    this.#steps += 1
    await Promise.all(chunks.flatMap(({ task, logit }) => (logit === null ? [] : [this.#advanceOrFail(task, logit)])))
    this.#flush()
  }

  /** Running answers get their token first; prompts share the rest of the batch evenly. */
  #assemble(): Chunk[] {
    const { context, batchTokens } = this.#native
    const tasks = this.#tasksOfStep()
    const prompts = tasks.filter(({ task }) => task.pending.length > 1).length
    const share = prompts === 0 ? 1 : Math.max(1, Math.floor((batchTokens - (tasks.length - prompts)) / prompts))
    const chunks = tasks.map(({ task, slot }) => ({ task, slot, tokens: task.pending.subarray(0, share) }))
    context.initBatch(chunks.reduce((sum, { tokens }) => sum + tokens.length, 0))
    return chunks.map(({ task, slot, tokens }) => {
      const isLast = tokens.length === task.pending.length
      const logitAt = isLast ? Uint32Array.of(tokens.length - 1) : new Uint32Array()
      const logits = context.addToBatch(slot, task.position, tokens, logitAt)
      task.position += tokens.length
      task.pending = task.pending.subarray(tokens.length)
      return { task, logit: logits[0] ?? null }
    })
  }

  /**
   * All that can go on; where answers must be reproducible one at a time, in turn.
   *
   * Sums come out a little different in batches of different sizes, and now and
   * then that tips a choice.
   */
  #tasksOfStep(): { readonly task: Task; readonly slot: number }[] {
    const tasks = this.#slots.flatMap((task, slot) => (task !== null && isRunnable(task) ? [{ task, slot }] : []))
    if (!this.#native.isReproducible) return tasks
    return tasks.slice(this.#steps % tasks.length).slice(0, 1)
  }

  /** What goes wrong with the sampling of one answer is that answer's alone. */
  async #advanceOrFail(task: Task, logit: LogitIndex): Promise<void> {
    try {
      await this.#advance(task, logit)
    } catch (error) {
      this.#release(task)
      this.#output.failed(task.id, error)
    }
  }

  async #advance(task: Task, logit: LogitIndex): Promise<void> {
    if (task.isAborted || task.chooser === null) return
    if (task.outputTokensMax === 0) return this.#end(task, { kind: task.limitKind })
    const { token, logprob } = await task.chooser.choose(logit)
    const wasAnswering = task.writer.isAnswering
    const steered = wasAnswering ? task.steering.take(token, task.chooser) : { text: null, tokens: [token] }
    const reason = task.writer.accept(token, logprob, steered.text)
    if (reason !== null) return this.#end(task, reason)
    if (task.writer.usage().output >= task.outputTokensMax) return this.#end(task, { kind: task.limitKind })
    const closing = task.mustCloseThinking() ? task.closeThinkingTokens : []
    if (closing.length > 0) task.writer.closeThinking()
    const gap = !wasAnswering && task.writer.isAnswering ? task.steering.beginAnswer(task.chooser) : []
    // The engine's own closing ends with the gap already.
    task.pending = Uint32Array.of(...steered.tokens, ...closing, ...(closing.length > 0 ? [] : gap))
  }

  #end(task: Task, reason: FinishReason): void {
    task.writer.finish(reason)
    this.#collect(task)
    this.#release(task)
  }

  #release(task: Task): void {
    const slot = this.#slots.indexOf(task)
    this.#native.context.disposeSequence(slot)
    task.chooser?.dispose()
    this.#slots[slot] = null
  }

  #collect(task: Task): void {
    task.eventsInFlight += task.events.length
    for (const event of task.events.splice(0)) this.#outbox.push([task.id, event])
  }

  #flush(): void {
    for (const task of this.#slots) if (task !== null) this.#collect(task)
    if (this.#outbox.length === 0) return
    this.#output.events(this.#outbox)
    this.#outbox = []
  }
}

function isRunnable(task: Task): boolean {
  return !task.isAborted && task.eventsInFlight < eventsInFlightMax
}
