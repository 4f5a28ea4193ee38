import type { LogitIndex, Native } from './native.ts'
import type { PromptCache } from './prompt-cache/prompt-cache.ts'
import { PromptPace } from './prompt-pace.ts'
import { draftTogether } from './speculation/draft-together.ts'
import { ServedKeys } from './served-keys.ts'
import { shareOutInGroups } from './share-out.ts'
import type { Task } from './task.ts'

export type TaskInSlot = { readonly task: Task; readonly slot: number }

/** A task's share of a batch: its own tokens, and guessed ones behind them. */
type Share = TaskInSlot & { readonly tokens: Uint32Array; readonly draft: Uint32Array }

/** `logits` are where it is sampled: behind its last token and behind each of the draft, nowhere while its prompt goes on. */
export type Chunk = Share & { readonly logits: readonly LogitIndex[] }

/** What a step has for the prompts of one key. */
type Claim = { readonly group: string; readonly need: number }

const nothing = new Uint32Array()

/** Prompts that take no longer together, of a key that was served less than those whose answers wait, are not held back. */
const lightMsMax = 1_000

/** The rest of a step goes to all, so that nobody's prompt stands still for those who come after it. */
const shareOfFirst = 0.75

/** Puts together what is decoded in one step. */
export class BatchAssembler {
  readonly #native: Native
  readonly #cache: Pick<PromptCache, 'tokensOf' | 'untilCheckpoint'>
  readonly #pace: PromptPace
  readonly #served = new ServedKeys()
  #latest: readonly Chunk[] = []
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
    const tokens = this.#latest.reduce((sum, chunk) => sum + chunk.tokens.length, 0)
    for (const chunk of this.#latest)
      this.#served.add(chunk.task.apiKeyId, (ms * chunk.tokens.length) / tokens, performance.now())
  }

  /** Running answers get their token first; the rest of the batch is shared out among keys, and among the prompts of each. */
  assemble(tasks: readonly TaskInSlot[]): readonly Chunk[] {
    const { context } = this.#native
    const prompts = tasks.filter(({ task }) => isPrompt(task))
    const drafts = prompts.length === 0 && this.#native.draftTokensMax > 0 ? this.#draft(tasks) : []
    const lengths = this.#promptLengths(tasks)
    const shares = tasks
      .map(({ task, slot }, index): Share => {
        const tokens = task.pending.subarray(0, isPrompt(task) ? (lengths.get(task) ?? 0) : 1)
        return { task, slot, tokens, draft: drafts[index] ?? nothing }
      })
      .filter(({ tokens }) => tokens.length > 0)
    this.#promptTokens = [...lengths.values()].reduce((sum, length) => sum + length, 0)
    context.initBatch(shares.reduce((sum, { tokens, draft }) => sum + tokens.length + draft.length, 0))
    this.#latest = shares.map((one) => this.#addToBatch(one))
    return this.#latest
  }

  /** How much of each prompt is computed. Where answers must be reproducible, no clock decides on it. */
  #promptLengths(tasks: readonly TaskInSlot[]): Map<Task, number> {
    const prompts = tasks.filter(({ task }) => isPrompt(task))
    const room = this.#native.batchTokens - (tasks.length - prompts.length)
    const claims = prompts.map(({ task, slot }) => {
      const until = this.#cache.untilCheckpoint(slot) ?? task.pending.length
      return { group: task.apiKeyId, need: Math.min(task.pending.length, until) }
    })
    const lengths = this.#native.isReproducible
      ? shareOutInGroups(claims, Math.max(1, room))
      : this.#shareOut(claims, tasks, room)
    return new Map(prompts.map(({ task }, index) => [task, lengths[index] ?? 0]))
  }

  /** The key that was served least of late comes first, up to three quarters of the step. */
  #shareOut(claims: readonly Claim[], tasks: readonly TaskInSlot[], room: number): number[] {
    const nowMs = performance.now()
    const servedOf = (key: string) => this.#served.of(key, nowMs)
    const [first = ''] = claims.map(({ group }) => group).toSorted((a, b) => servedOf(a) - servedOf(b))
    const answering = tasks.flatMap(({ task }) => (isPrompt(task) ? [] : [task.apiKeyId]))
    const needOf = (key: string) => claims.reduce((sum, { group, need }) => sum + (group === key ? need : 0), 0)
    const isLight = (key: string) => this.#pace.msOf(needOf(key)) <= lightMsMax
    const isHeldBack = (key: string) =>
      answering.some((other) => other !== key && !(isLight(key) && servedOf(key) <= servedOf(other)))
    const budgetOf = (key: string) => (isHeldBack(key) ? this.#pace.tokensBesideOthers : this.#pace.tokensMax)
    const most = Math.max(1, Math.min(room, budgetOf(first)))
    const isAlone = claims.every(({ group }) => group === first)
    const needs = claims.map((claim) => ({ ...claim, need: claim.group === first ? claim.need : 0 }))
    const before = shareOutInGroups(needs, isAlone ? most : Math.ceil(most * shareOfFirst))
    const left = claims.map((claim, index) => ({ ...claim, need: claim.need - (before[index] ?? 0) }))
    const others = Math.min(...claims.map(({ group }) => budgetOf(group)))
    const rest = Math.min(most - before.reduce((sum, length) => sum + length, 0), Math.max(1, others))
    const after = shareOutInGroups(left, Math.max(0, rest))
    return before.map((length, index) => length + (after[index] ?? 0))
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

function isPrompt(task: Task): boolean {
  return task.pending.length > 1
}
