import type { LogitIndex, Native } from '../native.ts'
import type { PromptCache } from '../prompt-cache/prompt-cache.ts'
import { draftTogether } from '../speculation/speculator.ts'
import { StepPlanner, type Work } from './step-planner.ts'
import type { Task } from '../task.ts'
import type { StepKind } from '../threads/step-threads.ts'

export type TaskInSlot = { readonly task: Task; readonly slot: number }

/** A task's share of a batch: its own tokens, and guessed ones behind them. */
type Share = TaskInSlot & { readonly tokens: Uint32Array; readonly draft: Uint32Array }

/** `logits` are where it is sampled: behind its last token and behind each of the draft, nowhere while its prompt goes on. */
export type Chunk = Share & { readonly logits: readonly LogitIndex[] }

type BatchSize = { readonly kind: StepKind; readonly tokens: number }

const nothing = new Uint32Array()

/** A mean that follows a change within some four steps: a grammar is dear in some places and not in others. */
const newestChoosing = 0.25

/** Puts together what is decoded in one step. */
export class BatchAssembler {
  readonly #native: Native
  readonly #cache: Pick<PromptCache, 'tokensOf' | 'untilCheckpoint'>
  readonly #planner: StepPlanner
  #drafted = 0
  /** Guessed tokens in the batch that was assembled last. */
  #draftedNow = 0
  #size: BatchSize = { kind: 'answers', tokens: 0 }

  constructor(native: Native, cache: Pick<PromptCache, 'tokensOf' | 'untilCheckpoint'>) {
    this.#native = native
    this.#cache = cache
    this.#planner = new StepPlanner(native.batchTokens, {
      tileTokens: native.tileTokens,
      ...(native.stepsBySize && { stepMsAim: Infinity }),
    })
  }

  /** Tokens that were guessed so far. */
  get drafted(): number {
    return this.#drafted
  }

  /** What the batch that was assembled last computes. */
  get size(): BatchSize {
    return this.#size
  }

  /** Tells how long the batch that was assembled last took to decode. */
  measure(ms: number): void {
    if (!this.#native.isReproducible) this.#planner.measure(ms, this.#draftedNow, performance.now())
  }

  /** Tells how long choosing the tokens of a task took in the last step. */
  measureChoosing(task: Task, ms: number): void {
    task.choosingMs += (ms - task.choosingMs) * newestChoosing
    if (!this.#native.isReproducible) this.#planner.serve(task.apiKeyId, ms, performance.now())
  }

  /** Answers get one token each, and guessed ones behind it; prompts get as much as their turn allows. */
  assemble(tasks: readonly TaskInSlot[]): readonly Chunk[] {
    const lengths = this.#lengths(tasks)
    const inStep = tasks.flatMap(({ task, slot }, index) => {
      const tokens = task.pending.subarray(0, lengths[index] ?? 0)
      return tokens.length === 0 ? [] : [{ task, slot, tokens }]
    })
    const drafts = this.#native.draftTokensMax > 0 && !tasks.some(isPrompt) ? this.#draft(inStep) : []
    const shares = inStep.map((one, index): Share => ({ ...one, draft: drafts[index] ?? nothing }))
    this.#draftedNow = shares.reduce((sum, { draft }) => sum + draft.length, 0)
    this.#drafted += this.#draftedNow
    const tokens = shares.reduce((sum, { tokens }) => sum + tokens.length, this.#draftedNow)
    this.#size = { kind: inStep.some(({ tokens }) => tokens.length > 1) ? 'prompts' : 'answers', tokens }
    this.#native.context.initBatch(tokens)
    return shares.map((one) => this.#addToBatch(one))
  }

  /** How much of each is computed. Where answers must be reproducible, no clock decides on it. */
  #lengths(tasks: readonly TaskInSlot[]): readonly number[] {
    const works = tasks.map(({ task, slot }): Work => {
      const left = task.pending.length
      const need = Math.min(left, this.#cache.untilCheckpoint(slot) ?? left, this.#native.batchTokens)
      const kind = isPrompt({ task }) ? 'prompt' : 'answer'
      return { key: task.apiKeyId, kind, need, left, position: task.position, choosingMs: task.choosingMs }
    })
    return this.#native.isReproducible ? works.map(({ need }) => need) : this.#planner.plan(works, performance.now())
  }

  #addToBatch(share: Share): Chunk {
    const { task, slot, tokens, draft } = share
    const isLast = tokens.length === task.pending.length
    const logitAt = isLast ? Array.from({ length: 1 + draft.length }, (_, index) => tokens.length - 1 + index) : []
    const added = draft.length === 0 ? tokens : Uint32Array.of(...tokens, ...draft)
    const logits = this.#native.context.addToBatch(slot, task.position, added, Uint32Array.from(logitAt))
    task.position += tokens.length
    task.pending = task.pending.subarray(tokens.length)
    return { ...share, logits: Array.from(logits) }
  }

  /** Makes drafts, for a step in which answers alone are computed. */
  #draft(tasks: readonly TaskInSlot[]): Uint32Array[] {
    const answers = tasks.map(({ task, slot }) => {
      const output = task.writer.outputTokens
      // The token that is chosen behind a whole draft must be within the limits as well.
      const room =
        Math.min(
          task.outputTokensMax - output,
          task.outputTokensAllowed - output,
          this.#native.windowTokens - task.position,
        ) - 1
      const [next = 0] = task.pending
      const draft = (most: number) => task.speculator?.draft(this.#cache.tokensOf(slot), next, output, most) ?? nothing
      return { room, draft }
    })
    return draftTogether(answers, this.#native.batchTokens)
  }
}

function isPrompt({ task }: { readonly task: Task }): boolean {
  return task.pending.length > 1
}
