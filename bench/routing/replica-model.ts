import type { Clock } from '../../src/lib/clock.ts'
import { BlockIndex, blockTokens, type BlockChain } from '../../src/scheduling/pool/block-index.ts'

type Event = { readonly atMs: number; readonly order: number; work: (() => void) | null }

/** A clock of simulated time, with the events that are to come. */
export class SimulatedClock implements Clock {
  #nowMs = 0
  #order = 0
  readonly #events: Event[] = []

  nowMs = () => this.#nowMs
  monotonicMs = () => this.#nowMs

  after(pauseMs: number, work: () => void): () => void {
    const event: Event = { atMs: this.#nowMs + pauseMs, order: ++this.#order, work }
    this.#push(event)
    return () => {
      event.work = null
    }
  }

  /** Runs what comes next; false when nothing does. */
  step(): boolean {
    const next = this.#pop()
    if (next === undefined) return false
    this.#nowMs = next.atMs
    next.work?.()
    return true
  }

  #push(event: Event): void {
    const heap = this.#events
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(heap[at]!, heap[parent]!)) return
      ;[heap[at], heap[parent]] = [heap[parent]!, heap[at]!]
      at = parent
    }
  }

  #pop() {
    const heap = this.#events
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ;) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child
      if (least === at) return first
      ;[heap[at], heap[least]] = [heap[least]!, heap[at]!]
      at = least
    }
  }
}

function isBefore(a: { atMs: number; order: number }, b: { atMs: number; order: number }): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

export type SimulatedRequest = {
  /** Whose it is, where that matters. */
  readonly organizationId?: string
  readonly atMs: number
  readonly chain: BlockChain
  readonly tokens: number
  readonly outputTokens: number
}

type Job = {
  readonly request: SimulatedRequest
  /** Prompt tokens that are to be computed. */
  left: number
  cached: number
  made: number
  onFirst(cached: number): void
  onEnd(): void
}

/** Published costs of a mock worker: 8,000 prompt tokens a second in chunks, and steps that grow with the answers in them. */
const prefillTokensPerMs = 8
const chunkTokens = 2_048
const stepMs = 6
const stepMsPerAnswer = 0.35
export const heldTokensMax = 524_288

/** A replica that batches, computes prompts in chunks in the order they come, and holds blocks as long as there is room. */
export class ReplicaModel {
  readonly id: string
  readonly held = new BlockIndex(heldTokensMax)
  readonly #clock: Clock
  readonly #slowness: number
  #waiting: Job[] = []
  #running: Job[] = []
  #isStepping = false
  /** Time spent computing. */
  workMs = 0

  constructor(id: string, clock: Clock, slowness = 1) {
    this.id = id
    this.#clock = clock
    this.#slowness = slowness
  }

  get running(): number {
    return this.#running.length + this.#waiting.length
  }

  get queuedTokens(): number {
    return this.#waiting.reduce((sum, { left }) => sum + left, 0)
  }

  cachedTokens({ chain, tokens }: SimulatedRequest): number {
    return Math.min(tokens - 1, this.held.depth(chain) * blockTokens)
  }

  /** How long it will take until a request's first token, as nobody outside can know. */
  firstTokenMs(request: SimulatedRequest): number {
    return ((this.queuedTokens + request.tokens - this.cachedTokens(request)) / prefillTokensPerMs) * this.#slowness
  }

  submit(request: SimulatedRequest, on: Pick<Job, 'onFirst' | 'onEnd'>): void {
    this.#waiting.push({ request, left: request.tokens, cached: -1, made: 0, ...on })
    if (!this.#isStepping) this.#step()
  }

  #step(): void {
    let computed = 0
    const finished: Job[] = []
    while (this.#waiting.length > 0 && computed < chunkTokens) {
      const job = this.#waiting[0]!
      if (job.cached < 0) {
        job.cached = this.cachedTokens(job.request)
        job.left -= job.cached
      }
      const part = Math.min(job.left, chunkTokens - computed)
      job.left -= part
      computed += part
      if (job.left > 0) break
      this.#waiting.shift()
      finished.push(job)
    }
    this.#isStepping = computed > 0 || this.#running.length > 0 || finished.length > 0
    if (!this.#isStepping) return
    const ms = (computed / prefillTokensPerMs + stepMs + stepMsPerAnswer * this.#running.length) * this.#slowness
    this.workMs += ms
    this.#clock.after(ms, () => this.#stepped(finished))
  }

  #stepped(finished: readonly Job[]): void {
    const before = this.#running
    this.#running = []
    for (const job of before) {
      job.made += 1
      if (job.made < job.request.outputTokens) this.#running.push(job)
      else job.onEnd()
    }
    for (const job of finished) {
      this.held.add(job.request.chain)
      job.made = 1
      job.onFirst(job.cached)
      if (job.request.outputTokens > 1) this.#running.push(job)
      else job.onEnd()
    }
    this.#step()
  }
}
