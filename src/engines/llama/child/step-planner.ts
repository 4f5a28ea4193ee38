import { shareOutInGroups } from './share-out.ts'
import { StepPace } from './step-pace.ts'

/** What a request has for the engine: the next token of its answer, or what is left of its prompt. */
export type Work = {
  readonly key: string
  readonly kind: 'answer' | 'prompt'
  /** Tokens that a step may compute at most; one where it is an answer. */
  readonly need: number
  /** The number of the prompt's tokens that are not computed yet. */
  readonly left: number
}

/** Prompts of one key that take no longer together come before whoever was served more. */
const lightMsMax = 1_000
/** Keys whose service differs by less are served alike. */
const aheadTimes = 2
const aheadMsMin = 200
/** What others add to the steps of those who come first; less where all of them were served more. */
const shareOfOthers = 0.25
const shareOfAhead = 0.1
/** However much they have saved, others make a step in which a prompt comes first no longer than by this. */
const shareBesidePromptsMost = 0.25

/**
 * Decides what each step computes of each request.
 *
 * Who was served least of late comes first: its answers, and its prompts where they are light. With
 * them come the answers and light prompts of all who were served about alike. The others' work adds
 * a part of what that takes, in steps that are worth their base: what they may not use at once they save.
 */
export class StepPlanner {
  readonly #pace: StepPace
  readonly #batchTokens: number
  readonly #served = new ServedKeys()
  #works: readonly Work[] = []
  #lengths: readonly number[] = []
  /** Milliseconds that those who were served more may still use. */
  #creditMs = 0
  /** Which of the answers that are held back comes next. */
  #turn = 0
  /** Steps in which a prompt of each key was computed: another one comes next in each. */
  readonly #promptTurns = new Map<string, number>()
  #nowMs = 0

  constructor(batchTokens: number, stepMsAim?: number) {
    this.#batchTokens = batchTokens
    this.#pace = new StepPace(batchTokens, stepMsAim)
  }

  /** How many tokens of each are computed in the next step. */
  plan(works: readonly Work[], nowMs: number): readonly number[] {
    this.#nowMs = nowMs
    const keys = new Set(works.map(({ key }) => key))
    const isExpected = this.#served.expectsOthers(keys, nowMs)
    const most = Math.min(isExpected ? this.#pace.tokensMaxShort : this.#pace.tokensMax, this.#batchTokens)
    const { first, share } = this.#chooseFirst(works, keys, nowMs)
    const lengths = this.#share(works, first, Math.ceil(most / (1 + share)))
    if (first.includes(false)) this.#addOthers(works, first, share, lengths)
    this.#takeTurns(works, lengths, keys)
    this.#works = works
    this.#lengths = lengths
    return lengths
  }

  /** Tells how long the step took that was planned last. `drafted` are guessed tokens that it computed besides. */
  measure(ms: number, drafted: number, nowMs: number): void {
    const total = this.#lengths.reduce((sum, length) => sum + length, 0)
    const prompts = promptTokens(this.#works, this.#lengths)
    this.#pace.measure(prompts, total - prompts + drafted, ms)
    this.#works.forEach(({ key }, at) => this.#served.add(key, (ms * (this.#lengths[at] ?? 0)) / total, nowMs))
  }

  #takeTurns(works: readonly Work[], lengths: readonly number[], keys: ReadonlySet<string>): void {
    for (const key of this.#promptTurns.keys()) if (!keys.has(key)) this.#promptTurns.delete(key)
    const isComputed = ({ kind }: Work, at: number) => kind === 'prompt' && (lengths[at] ?? 0) > 0
    const computed = new Set(works.filter(isComputed).map(({ key }) => key))
    for (const key of computed) this.#promptTurns.set(key, (this.#promptTurns.get(key) ?? 0) + 1)
  }

  /** Decides whose work comes first, and how much work of others a step may add to it. */
  #chooseFirst(works: readonly Work[], keys: ReadonlySet<string>, nowMs: number) {
    if (keys.size === 1) return { first: works.map(() => true), share: 0 }
    const served = new Map([...keys].map((key) => [key, this.#served.of(key, nowMs)]))
    const light = new Set([...keys].filter((key) => this.#isLight(works, key)))
    const quick = works.filter(({ key, kind }) => kind === 'answer' || light.has(key))
    const candidates = new Set(quick.length > 0 ? quick : works)
    const least = Math.min(...[...candidates].map(({ key }) => served.get(key) ?? 0))
    const isAhead = ({ key }: Work) => (served.get(key) ?? 0) > least * aheadTimes + aheadMsMin
    const first = works.map((work) => candidates.has(work) && !isAhead(work))
    const others = works.filter((_, at) => first[at] === false)
    return { first, share: others.length === 0 ? 0 : others.every(isAhead) ? shareOfAhead : shareOfOthers }
  }

  #isLight(works: readonly Work[], key: string): boolean {
    const left = works.reduce((sum, work) => sum + (work.key === key && work.kind === 'prompt' ? work.left : 0), 0)
    return this.#pace.promptMs(left) <= lightMsMax
  }

  /** A token for each answer that comes first; prompt tokens are shared out among keys, and among the prompts of each. */
  #share(works: readonly Work[], first: readonly boolean[], most: number): number[] {
    const answers = works.filter(({ kind }, at) => first[at] === true && kind === 'answer').length
    const order = this.#inTurn(works, (at) => first[at] === true)
    const claims = order.map((at) => ({ group: works[at]?.key ?? '', need: works[at]?.need ?? 0 }))
    const shares = shareOutInGroups(claims, Math.max(1, Math.min(most, this.#batchTokens - answers)))
    const lengths: number[] = works.map(({ kind }, at) => (first[at] === true && kind === 'answer' ? 1 : 0))
    for (const [position, at] of order.entries()) lengths[at] = shares[position] ?? 0
    return lengths
  }

  /** What is not first has saved some time; that is spent on answers in turn, and what is left of it on prompts. */
  #addOthers(works: readonly Work[], first: readonly boolean[], share: number, lengths: number[]): void {
    const prompts = promptTokens(works, lengths)
    const answers = lengths.reduce((sum, length) => sum + length, 0) - prompts
    const pace = this.#pace
    const firstMs = prompts > 0 ? pace.promptBaseMs + pace.promptMs(prompts) : pace.answersMs(answers)
    this.#save(firstMs * share)
    const begun = this.#addAnswers(works, first, lengths, this.#batchTokens - answers - prompts)
    const room = this.#batchTokens - answers - prompts - begun
    this.#addPrompt(works, first, lengths, { room, msMax: prompts === 0 ? Infinity : firstMs * shareBesidePromptsMost })
  }

  /** What is saved beyond the worth of a step by itself would only be spent at once, beside whoever comes first then. */
  #save(ms: number): void {
    const { promptBaseMs, answerMs } = this.#pace
    const mostMs = 2 * promptBaseMs + this.#pace.promptMs(1) + answerMs
    this.#creditMs = Math.min(mostMs, this.#creditMs) + ms
  }

  #addAnswers(works: readonly Work[], first: readonly boolean[], lengths: number[], room: number): number {
    const waiting = works.flatMap(({ kind }, at) => (first[at] === false && kind === 'answer' ? [at] : []))
    const { answerMs } = this.#pace
    const affordable = answerMs === 0 ? waiting.length : Math.floor(this.#creditMs / answerMs)
    const begun = Math.min(affordable, waiting.length, room)
    for (let taken = 0; taken < begun; taken++) lengths[waiting[(this.#turn + taken) % waiting.length] ?? 0] = 1
    this.#turn += begun
    this.#creditMs -= begun * answerMs
    return begun
  }

  /**
   * Adds tokens of a prompt that is held back, which take `msMax` at most.
   *
   * Whatever else a step computes, such a prompt takes once more what every step does, its base, since the library computes
   * it by itself. It waits until as much again goes into tokens.
   */
  #addPrompt(
    works: readonly Work[],
    first: readonly boolean[],
    lengths: number[],
    { room, msMax }: { readonly room: number; readonly msMax: number },
  ): void {
    const pace = this.#pace
    const baseMs = pace.promptBaseMs
    if (this.#creditMs < 2 * baseMs + pace.promptMs(1)) return
    const fitting = Math.floor(Math.min(msMax, this.#creditMs - baseMs) / pace.promptMs(1))
    const at = this.#inTurn(works, (index) => first[index] === false)[0] ?? -1
    const tokens = Math.max(0, Math.min(works[at]?.need ?? 0, fitting, pace.tokensMaxShort, room))
    if (tokens === 0) return
    lengths[at] = tokens
    this.#creditMs -= baseMs + pace.promptMs(tokens)
  }

  /**
   * The chosen prompts as they come: those of the key served least first, and of each key another one in each step.
   *
   * A few tokens of each in one step would take longer than as many of one: the library computes prompts that are
   * of different lengths, or not in neighbouring places, one after the other.
   */
  #inTurn(works: readonly Work[], isChosen: (at: number) => boolean): number[] {
    const chosen = works.flatMap(({ kind }, at) => (kind === 'prompt' && isChosen(at) ? [at] : []))
    const byKey = Map.groupBy(chosen, (at) => works[at]?.key ?? '')
    const keys = [...byKey.keys()].toSorted((a, b) => this.#served.of(a, this.#nowMs) - this.#served.of(b, this.#nowMs))
    return keys.flatMap((key) => {
      const prompts = byKey.get(key) ?? []
      const next = (this.#promptTurns.get(key) ?? 0) % prompts.length
      return [...prompts.slice(next), ...prompts.slice(0, next)]
    })
  }
}

/** How many tokens of a step are those of prompts. */
function promptTokens(works: readonly Work[], lengths: readonly number[]): number {
  return lengths.reduce((sum, length, at) => sum + (works[at]?.kind === 'prompt' ? length : 0), 0)
}

/** Service counts half after this time: a burst is forgiven within half a minute, and a flood is not. */
const halfLifeMs = 3_000
/** A key that was served this much comes again within half a minute or so, if at all. */
const recentMsMin = 1
/** Keys beyond this many are forgotten if they were served next to nothing. */
const keysMax = 1_000

/** How much of the engine's time each key was served of late. */
export class ServedKeys {
  readonly #served = new Map<string, { ms: number; atMs: number }>()

  get size(): number {
    return this.#served.size
  }

  add(key: string, ms: number, nowMs: number): void {
    this.#served.set(key, { ms: this.of(key, nowMs) + ms, atMs: nowMs })
    if (this.#served.size > keysMax) this.#forget(nowMs)
  }

  /** In milliseconds, those of long ago counted less. */
  of(key: string, nowMs: number): number {
    const served = this.#served.get(key)
    return served === undefined ? 0 : served.ms * 0.5 ** ((nowMs - served.atMs) / halfLifeMs)
  }

  /** Whether a key that is none of these was served of late, and may come again at any moment. */
  expectsOthers(keys: ReadonlySet<string>, nowMs: number): boolean {
    for (const key of this.#served.keys()) if (!keys.has(key) && this.of(key, nowMs) >= recentMsMin) return true
    return false
  }

  #forget(nowMs: number): void {
    for (const key of this.#served.keys()) if (this.of(key, nowMs) < 1) this.#served.delete(key)
  }
}
