// Every slot's tokens are decoded together, a step at a time:
//
//     take waiting tasks into free slots
//     assemble one batch: one token of each running answer, a share of each prompt
//     decode it, and meanwhile hand out what came of the last one; sample where an answer goes on
//
// Where answers repeat a text, tokens are guessed and decoded behind the one token. Each that is
// then chosen as guessed need not be decoded any more; what follows another one is taken back.
//
// An abort is confirmed at once, with what the answer had come to. Between two steps the loop
// is at rest; there the slot of an aborted task becomes free.

import { setTimeout } from 'node:timers/promises'
import { zeroUsage, type FinishReason, type Usage } from '../../../core/generation.ts'
import type { DraftCounts, EventBatch, TaskId } from '../ipc.ts'
import { advanceAnswer, allowOutput, beginTask, isAtEnd, isRunnable, limitOutput, type Task } from './task.ts'
import { BatchAssembler, type Chunk, type TaskInSlot } from './batch/batch-assembler.ts'
import { HandOver } from './hand-over.ts'
import type { Native } from './native.ts'
import type { PromptCache } from './prompt-cache/prompt-cache.ts'
import { StepThreads } from './threads/step-threads.ts'
import { unheldThreads, type PoolThreads } from './threads/pool-threads.ts'

export type DecodeLoopOutput = {
  events(batch: EventBatch): void
  /** An answer has made half of the tokens that it was allowed last. */
  nearlyUsed(id: TaskId): void
  aborted(id: TaskId, usage: Usage): void
  /** One answer cannot go on; the others do. */
  failed(id: TaskId, error: unknown): void
  /** While the library computes a step, as long as the last one perhaps, or nothing at all, this thread has time for something else. */
  hasTime?(stepMs: number): void
}

const restBeforeSavingMs = 1_000

export class DecodeLoop {
  readonly #native: Native
  readonly #output: DecodeLoopOutput
  readonly #handOver: HandOver
  readonly #cache: PromptCache
  readonly #batches: BatchAssembler
  readonly #threads: StepThreads
  readonly #pool: PoolThreads
  readonly #slots: (Task | null)[]
  readonly #waiting: Task[] = []
  /** Has left the queue and is being brought into a slot. */
  #arriving: Task | null = null
  #wake: () => void = () => {}
  #steps = 0
  #stepMs = 0
  #accepted = 0

  /** The threads of `pool` choose the tokens. */
  constructor(native: Native, cache: PromptCache, output: DecodeLoopOutput, pool: PoolThreads = unheldThreads) {
    this.#native = native
    this.#cache = cache
    this.#batches = new BatchAssembler(native, cache)
    this.#threads = new StepThreads(native.context, native.threads, native.adaptsThreads)
    this.#output = output
    this.#handOver = new HandOver((batch) => output.events(batch))
    this.#pool = pool
    this.#slots = Array.from({ length: native.slots }, () => null)
  }

  /** Decode steps so far. */
  get steps(): number {
    return this.#steps
  }

  get drafts(): DraftCounts {
    return { drafted: this.#batches.drafted, accepted: this.#accepted }
  }

  get isBusy(): boolean {
    return this.#running().some(isRunnable)
  }

  submit(task: Task): void {
    this.#waiting.push(task)
    this.#wake()
  }

  /** Confirms an abort; nothing that is made of the task afterwards is sent or counted. */
  abort(id: TaskId): void {
    const task = this.#find(id)
    if (task === undefined || task.isAborted) return
    task.isAborted = true
    const index = this.#waiting.indexOf(task)
    if (index !== -1) this.#waiting.splice(index, 1)
    this.#output.aborted(id, this.#slots.includes(task) ? task.writer.usage() : zeroUsage)
    this.#wake()
  }

  /** An answer may grow to so many tokens, and ends there if that is the last word. */
  allow(id: TaskId, outputTokens: number, isLast: boolean): void {
    const task = this.#find(id)
    if (task === undefined) return
    allowOutput(task, outputTokens)
    if (isLast) limitOutput(task, outputTokens)
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
      this.#endLimited()
      // A prompt may take a while to be brought into its slot, for which nobody else's events wait.
      if (this.#waiting.length > 0) this.#handOver.flush(this.#running())
      await this.#fillSlots()
      if (this.isBusy) {
        await this.#step()
        continue
      }
      this.#handOver.flush(this.#running())
      this.#output.hasTime?.(Infinity)
      if (!this.#hasNews()) await this.#rest()
    }
  }

  /** Saves everything that a next process can go on from. Nothing may be submitted any more. */
  async saveAll(): Promise<void> {
    while (this.#cache.hasUnsaved(this.#freeSlots())) await this.#cache.saveOne(this.#freeSlots(), () => false)
  }

  /** Something came while a task was brought into its slot, when nobody rested who could have been woken. */
  #hasNews(): boolean {
    const isAnyOver = this.#running().some((task) => task.isAborted || isAtEnd(task))
    return isAnyOver || (this.#waiting.length > 0 && this.#freeSlots().size > 0)
  }

  /** Waits until there is work again. A longer rest is used to save what a crash would lose. */
  async #rest(): Promise<void> {
    const woken = new Promise<'woken'>((resolve) => (this.#wake = () => resolve('woken')))
    const ahead = this.#cache.readAhead()?.then(() => 'read' as const)
    if (ahead !== undefined) {
      if ((await Promise.race([woken, ahead])) === 'read') await this.#cache.takeReadAhead(this.#freeSlots())
      return
    }
    if (!this.#cache.hasUnsaved(this.#freeSlots())) return void (await woken)
    const stop = new AbortController()
    const rested = setTimeout(restBeforeSavingMs, 'rested', { signal: stop.signal }).catch(() => 'woken')
    const isAwaited = () => this.#waiting.length > 0
    if ((await Promise.race([woken, rested])) === 'rested') await this.#cache.saveOne(this.#freeSlots(), isAwaited)
    stop.abort()
  }

  #freeSlots(): Set<number> {
    return new Set(this.#slots.flatMap((task, slot) => (task === null ? [slot] : [])))
  }

  #find(id: TaskId): Task | undefined {
    return [...this.#slots, this.#arriving, ...this.#waiting].find((task) => task?.id === id) ?? undefined
  }

  #dropAborted(): void {
    for (const task of this.#running()) if (task.isAborted) this.#release(task)
  }

  /** Ends answers that had waited for more tokens, and get none. */
  #endLimited(): void {
    for (const task of this.#running()) if (isAtEnd(task)) this.#end(task, { kind: task.limitKind })
  }

  async #fillSlots(): Promise<void> {
    for (let passed = 0; ;) {
      const free = this.#freeSlots()
      const [task] = free.size === 0 ? [] : this.#waiting.splice(passed, 1)
      if (task === undefined) return
      this.#arriving = task
      const placement = await this.#cache.place(task.prompt, free)
      this.#arriving = null
      if (placement === null) {
        this.#putBack(task, passed)
        passed += 1
        continue
      }
      this.#slots[placement.slot] = task
      try {
        beginTask(task, placement)
      } catch (error) {
        this.#fail(task, error)
      }
    }
  }

  /** A prompt that waits for another one to be computed is asked again after the next step. */
  #putBack(task: Task, index: number): void {
    if (!task.isAborted) this.#waiting.splice(index, 0, task)
  }

  async #step(): Promise<void> {
    const chunks = this.#batches.assemble(this.#tasksOfStep())
    const { kind, tokens } = this.#batches.size
    const decoding = this.#threads.run(kind, tokens, () => this.#native.context.decodeBatch())
    // What the steps before made is handed on while the library computes this one.
    this.#handOver.proceed(this.#running())
    this.#output.hasTime?.(this.#stepMs)
    this.#stepMs = await decoding
    this.#batches.measure(this.#stepMs)
    this.#steps += 1
    for (const { slot, tokens } of chunks) {
      this.#cache.extend(slot, tokens)
      await this.#cache.takeDueCheckpoints(slot)
    }
    this.#pool.open(chunks.filter(({ logits }) => logits.length > 0).length)
    const accepted = await Promise.all(chunks.map((chunk) => this.#advanceThrough(chunk)))
    chunks.forEach((chunk, index) => this.#settle(chunk, accepted[index] ?? 0))
  }

  /**
   * Chooses all tasks that can go on, or one in turn where answers must be reproducible.
   *
   * Sums come out a little different in batches of different sizes, and now and
   * then that tips a choice.
   */
  #tasksOfStep(): TaskInSlot[] {
    const tasks = this.#slots.flatMap((task, slot) => (task !== null && isRunnable(task) ? [{ task, slot }] : []))
    if (!this.#native.isReproducible) return tasks
    return tasks.slice(this.#steps % tasks.length).slice(0, 1)
  }

  /** Ends one answer that went wrong; the others go on. */
  #fail(task: Task, error: unknown): void {
    this.#release(task)
    // What was made before is the client's all the same.
    this.#handOver.collect(task)
    this.#handOver.flush(this.#running())
    this.#output.failed(task.id, error)
  }

  /** Goes on token by token as long as the next one was drafted. Returns how much of the draft the answer has now. */
  async #advanceThrough({ task, draft, logits }: Chunk): Promise<number> {
    let accepted = 0
    const spentMs = task.chooser?.spentMs ?? 0
    try {
      for (const logit of logits) {
        if (task.isAborted) break
        const reason = await advanceAnswer(task, logit)
        if (reason !== null) this.#end(task, reason)
        else this.#askWhereDue(task)
        const isDrafted = task.pending.length === 1 && task.pending[0] === draft[accepted]
        if (!isDrafted) break
        task.pending = new Uint32Array()
        task.position += 1
        accepted += 1
      }
    } catch (error) {
      this.#fail(task, error)
    }
    if (logits.length > 0) this.#batches.measureChoosing(task, (task.chooser?.spentMs ?? 0) - spentMs)
    return accepted
  }

  #askWhereDue(task: Task): void {
    if (task.writer.outputTokens < task.asksAt) return
    task.asksAt = Infinity
    this.#output.nearlyUsed(task.id)
  }

  /** Takes rejected drafts back. It runs while no token is sampled, because memory is changed at rest only. */
  #settle({ task, slot, draft }: Chunk, accepted: number): void {
    if (draft.length === 0) return
    this.#accepted += accepted
    task.speculator?.settle(draft.length, accepted)
    try {
      this.#cache.settle(slot, draft, accepted)
    } catch (error) {
      if (this.#slots[slot] === task) this.#fail(task, error)
    }
  }

  #end(task: Task, reason: FinishReason): void {
    task.writer.finish(reason)
    this.#handOver.collect(task)
    this.#release(task)
  }

  #release(task: Task): void {
    task.chooser?.dispose()
    // What the slot holds stays: the conversation may go on.
    this.#slots[this.#slots.indexOf(task)] = null
  }

  #running(): Task[] {
    return this.#slots.filter((task) => task !== null)
  }
}
