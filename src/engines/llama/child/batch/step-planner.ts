import { shareOutInGroups } from './share-out.ts'
import type { Stretch } from './position-weights.ts'
import { StepPace, type PaceOptions } from './step-pace.ts'

/** What a request has for the engine: the next token of its answer, or what is left of its prompt. */
export type Work = {
  readonly key: string
  readonly kind: 'answer' | 'prompt'
  /** Tokens that a step may compute at most; one where it is an answer. */
  readonly need: number
  /** The number of the prompt's tokens that are not computed yet, and of those before them. */
  readonly left: number
  readonly position: number
  /** Milliseconds that choosing an answer's next token takes, which comes behind the step. */
  readonly choosingMs: number
}

/** Units of prompts that a step may compute, and whether nobody else has to wait for it. */
type Allowance = { readonly most: number; readonly isAlone: boolean }

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

  constructor(batchTokens: number, options: PaceOptions = {}) {
    this.#batchTokens = batchTokens
    this.#pace = new StepPace(batchTokens, options)
  }

  /** How many tokens of each are computed in the next step. */
  plan(works: readonly Work[], nowMs: number): readonly number[] {
    this.#nowMs = nowMs
    const keys = new Set(works.map(({ key }) => key))
    const isExpected = this.#served.expectsOthers(keys, nowMs)
    const { first, share } = this.#chooseFirst(works, keys, nowMs)
    // Nobody has to wait for such a step whose answer goes on, or who has another key.
    const isAlone = !isExpected && keys.size === 1 && works.every(({ kind }) => kind === 'prompt')
    const most = isExpected ? this.#pace.unitsMaxShort : isAlone ? this.#pace.unitsMaxAlone : this.#pace.unitsMax
    const lengths = this.#share(works, first, { most: Math.ceil(most / (1 + share)), isAlone })
    if (first.includes(false)) this.#addOthers(works, first, share, lengths)
    this.#takeTurns(works, lengths, keys)
    this.#works = works
    this.#lengths = lengths
    return lengths
  }

  /** Tells how long the step took that was planned last. `drafted` are guessed tokens that it computed besides. */
  measure(ms: number, drafted: number, nowMs: number): void {
    const answers = this.#lengths.filter((length, at) => length > 0 && this.#works[at]?.kind === 'answer').length
    const units = this.#works.map((work, at) => this.#unitsOf(work, this.#lengths[at] ?? 0))
    const total = units.reduce((sum, some) => sum + some, 0)
    this.#works.forEach(({ key }, at) => this.#served.add(key, (ms * (units[at] ?? 0)) / total, nowMs))
    this.#pace.measure(promptStretches(this.#works, this.#lengths), answers + drafted, ms)
  }

  /** Counts time that a key had of the engine outside of steps. */
  serve(key: string, ms: number, nowMs: number): void {
    this.#served.add(key, ms, nowMs)
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
    const prompts = works.filter((work) => work.key === key && work.kind === 'prompt')
    const units = prompts.reduce((sum, work) => sum + this.#unitsOf(work, work.left), 0)
    return this.#pace.promptMs(units) <= lightMsMax
  }

  /** A token for each answer that comes first; units of prompts are shared out among keys, and among the prompts of each. */
  #share(works: readonly Work[], first: readonly boolean[], { most, isAlone }: Allowance): number[] {
    const pace = this.#pace
    const answers = works.filter(({ kind }, at) => first[at] === true && kind === 'answer').length
    const order = this.#inTurn(works, (at) => first[at] === true)
    const chosen = order.flatMap((at) => works[at] ?? [])
    const claims = chosen.map((work) => ({ group: work.key, need: this.#unitsOf(work, work.need) }))
    const shares = shareOutInGroups(claims, Math.max(1, most))
    const lengths: number[] = works.map(({ kind }, at) => (first[at] === true && kind === 'answer' ? 1 : 0))
    let room = Math.max(1, this.#batchTokens - answers)
    for (const [place, at] of order.entries()) {
      const { need = 0, position = 0 } = chosen[place] ?? {}
      // However dear its tokens are, the first prompt goes on by one.
      const least = place === 0 ? 1 : 0
      const within = Math.max(least, pace.tokensWithin(shares[place] ?? 0, position))
      const tokens = Math.min(need, room, isAlone ? pace.inTiles(within, need) : within)
      lengths[at] = tokens
      room -= tokens
    }
    return lengths
  }

  /** What some tokens of a work are worth; an answer's one is counted as a token of a prompt. */
  #unitsOf({ kind, position }: Work, tokens: number): number {
    return kind === 'prompt' ? this.#pace.unitsOf({ tokens, position }) : tokens
  }

  /** What is not first has saved some time; that is spent on answers in turn, and what is left of it on prompts. */
  #addOthers(works: readonly Work[], first: readonly boolean[], share: number, lengths: number[]): void {
    const pace = this.#pace
    const stretches = promptStretches(works, lengths)
    const prompts = stretches.reduce((sum, { tokens }) => sum + tokens, 0)
    const units = stretches.reduce((sum, stretch) => sum + pace.unitsOf(stretch), 0)
    const answers = lengths.reduce((sum, length) => sum + length, 0) - prompts
    const stepMs = prompts > 0 ? pace.promptBaseMs + pace.promptMs(units) : pace.answersMs(answers)
    const firstMs = works.reduce((sum, { choosingMs }, at) => sum + (lengths[at] === 1 ? choosingMs : 0), stepMs)
    this.#save(firstMs * share, works, first)
    const begun = this.#addAnswers(works, first, lengths, this.#batchTokens - answers - prompts)
    const room = this.#batchTokens - answers - prompts - begun
    this.#addPrompt(works, first, lengths, { room, msMax: prompts === 0 ? Infinity : firstMs * shareBesidePromptsMost })
  }

  /** What is saved beyond the worth of a step by itself would only be spent at once, beside whoever comes first then. */
  #save(ms: number, works: readonly Work[], first: readonly boolean[]): void {
    const { promptBaseMs, answerMs } = this.#pace
    const held = works.filter(({ kind }, at) => kind === 'prompt' && first[at] === false)
    const dearestMs = Math.max(0, ...held.map((work) => this.#pace.promptMs(this.#unitsOf(work, 1))))
    const choosingMs = works.map((work, at) => (first[at] === false ? work.choosingMs : 0))
    const mostMs = 2 * promptBaseMs + dearestMs + answerMs + Math.max(0, ...choosingMs)
    this.#creditMs = Math.min(mostMs, this.#creditMs) + ms
  }

  #addAnswers(works: readonly Work[], first: readonly boolean[], lengths: number[], room: number): number {
    const waiting = works.flatMap(({ kind }, at) => (first[at] === false && kind === 'answer' ? [at] : []))
    const { answerMs } = this.#pace
    const most = Math.min(waiting.length, room)
    let begun = 0
    for (; begun < most; begun++) {
      const at = waiting[(this.#turn + begun) % waiting.length] ?? 0
      const costMs = answerMs + (works[at]?.choosingMs ?? 0)
      if (costMs > this.#creditMs) break
      lengths[at] = 1
      this.#creditMs -= costMs
    }
    this.#turn += begun
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
    const at = this.#inTurn(works, (index) => first[index] === false)[0] ?? -1
    const work = works[at]
    if (work === undefined || this.#creditMs < 2 * baseMs + pace.promptMs(this.#unitsOf(work, 1))) return
    const fitting = Math.min(msMax, this.#creditMs - baseMs) / pace.promptMs(1)
    const tokens = Math.min(work.need, pace.tokensWithin(Math.min(fitting, pace.unitsMaxShort), work.position), room)
    if (tokens <= 0) return
    lengths[at] = tokens
    this.#creditMs -= baseMs + pace.promptMs(this.#unitsOf(work, tokens))
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

/** What a step computes of prompts. */
function promptStretches(works: readonly Work[], lengths: readonly number[]): Stretch[] {
  return works.flatMap(({ kind, position }, at) => {
    const tokens = lengths[at] ?? 0
    return kind === 'prompt' && tokens > 0 ? [{ tokens, position }] : []
  })
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
