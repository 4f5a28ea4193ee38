import type { LogitIndex, Native } from './native.ts'
import type { PromptCache } from './prompt-cache/prompt-cache.ts'
import { PromptPace } from './prompt-pace.ts'
import { draftTogether } from './speculation/draft-together.ts'
import type { Task } from './task.ts'

export type TaskInSlot = { readonly task: Task; readonly slot: number }

/** A task's share of a batch: its own tokens, and guessed ones behind them. */
type Share = TaskInSlot & { readonly tokens: Uint32Array; readonly draft: Uint32Array }

/** `logits` are where it is sampled: behind its last token and behind each of the draft, nowhere while its prompt goes on. */
export type Chunk = Share & { readonly logits: readonly LogitIndex[] }

const nothing = new Uint32Array()

/** Puts together what is decoded in one step. */
export class BatchAssembler {
  readonly #native: Native
  readonly #cache: Pick<PromptCache, 'tokensOf' | 'untilCheckpoint'>
  readonly #pace: PromptPace
  #drafted = 0
  /** Prompt tokens in the batch that was assembled last. */
  #promptTokens = 0

  constructor(native: Native, cache: Pick<PromptCache, 'tokensOf' | 'untilCheckpoint'>) {
    this.#native = native
    this.#cache = cache
    this.#pace = new PromptPace(native.batchTokens)
  }

  /** Tokens that were guessed so far. */
  get drafted(): number {
    return this.#drafted
  }

  /** Tells how long the batch that was assembled last took to decode. */
  measure(ms: number): void {
    this.#pace.measure(this.#promptTokens, ms)
  }

  /** Running answers get their token first; prompts share the rest of the batch evenly. */
  assemble(tasks: readonly TaskInSlot[]): Chunk[] {
    const { context } = this.#native
    const prompts = tasks.filter(({ task }) => task.pending.length > 1).length
    const share = prompts === 0 ? 1 : this.#promptShare(prompts, tasks.length - prompts)
    const drafts = prompts === 0 && this.#native.draftTokensMax > 0 ? this.#draft(tasks) : []
    const shares = tasks.map(({ task, slot }, index): Share => {
      const until = this.#cache.untilCheckpoint(slot) ?? share
      const tokens = task.pending.subarray(0, Math.min(share, until))
      return { task, slot, tokens, draft: drafts[index] ?? nothing }
    })
    this.#promptTokens = tasks.reduce(
      (sum, { task }, index) => sum + (task.pending.length > 1 ? (shares[index]?.tokens.length ?? 0) : 0),
      0,
    )
    context.initBatch(shares.reduce((sum, { tokens, draft }) => sum + tokens.length + draft.length, 0))
    return shares.map((one) => this.#addToBatch(one))
  }

  /** Where answers must be reproducible, a prompt is computed in portions that no clock decides on. */
  #promptShare(prompts: number, answers: number): number {
    const { batchTokens, isReproducible } = this.#native
    const room = batchTokens - answers
    return Math.max(1, Math.floor((isReproducible ? room : Math.min(room, this.#pace.tokensMax)) / prompts))
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

  /** Drafts for a step in which answers alone are computed. */
  #draft(tasks: readonly TaskInSlot[]): Uint32Array[] {
    const answers = tasks.map(({ task, slot }) => {
      const output = task.writer.usage().output
      // The token that is chosen behind a whole draft must be within the limits as well.
      const room = Math.min(task.outputTokensMax - output, this.#native.windowTokens - task.position) - 1
      const [next = 0] = task.pending
      const draft = (most: number) => task.speculator?.draft(this.#cache.tokensOf(slot), next, output, most) ?? nothing
      return { room, draft }
    })
    const drafts = draftTogether(answers, this.#native.batchTokens)
    this.#drafted += drafts.reduce((sum, { length }) => sum + length, 0)
    return drafts
  }
}
