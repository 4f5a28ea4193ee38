import { answerGap } from '../../../text/model-text.ts'
import type { ThinkingTags } from '../../../../chat-format/probe-template.ts'
import type { AnswerPlan } from '../../../text/prepared-text.ts'
import type { Native } from '../native.ts'
import type { TokenChooser } from './token-chooser.ts'
import type { Vocabulary } from '../../../text/vocabulary.ts'

/** What becomes of a sampled token. */
export type SteeredToken = {
  /** The text the token stands for instead of its own; null leaves it. */
  readonly text: string | null
  /** The tokens the model is given for it. */
  readonly tokens: readonly number[]
}

/** Puts the grammar of a plan into force at the right moment. */
export class Steering {
  readonly #native: Native
  readonly #vocabulary: Vocabulary
  readonly #plan: AnswerPlan
  readonly #tags: ThinkingTags | null
  /** The last of the answer's text, in which a trigger may have begun. */
  #tail: string
  #isDone: boolean

  constructor(native: Native, vocabulary: Vocabulary, plan: AnswerPlan, tags: ThinkingTags | null) {
    this.#native = native
    this.#vocabulary = vocabulary
    this.#tags = tags
    this.#plan = plan
    this.#tail = plan.lazy?.lead ?? ''
    this.#isDone = plan.forced === null && plan.lazy === null
  }

  /** A model that ended in its thoughts would leave out the answer that was asked for. */
  beginThinking(chooser: TokenChooser): void {
    if (this.#plan.forced !== null) chooser.forbidEnd(true)
  }

  /**
   * Called when the answer proper begins: at once, or when thinking is over.
   *
   * Returns tokens the model is to be given first: where a grammar leaves it no
   * room for the blank line it is used to after thinking, it finds it there.
   */
  beginAnswer(chooser: TokenChooser): Uint32Array {
    // Thoughts behind this would be read as a part of the answer.
    if (this.#tags !== null) chooser.ban([this.#tags.open])
    if (this.#isDone || this.#plan.forced === null) return new Uint32Array()
    chooser.forbidEnd(false)
    chooser.setGrammar(this.#plan.forced)
    this.#isDone = true
    return this.#vocabulary.tokenize(answerGap)
  }

  /**
   * Looks for a trigger in the answer's text, which this token continues.
   *
   * The token that completes one may reach beyond it. What it adds is kept if
   * the grammar allows it and otherwise taken back.
   */
  take(token: number, chooser: TokenChooser): SteeredToken {
    const unchanged = { text: null, tokens: [token] }
    const { lazy } = this.#plan
    if (this.#isDone || lazy === null) return unchanged
    const text = Buffer.from(this.#vocabulary.bytesOf(token)).toString()
    const before = this.#tail
    const whole = before + text
    const trigger = firstTrigger(whole, lazy.triggers)
    if (trigger === null) {
      this.#tail = whole.slice(-longest(lazy.triggers))
      return unchanged
    }
    this.#isDone = true
    const marker = whole.slice(trigger.start, trigger.end)
    if (!this.#reads(lazy.grammar, marker)) return unchanged
    const rest = whole.slice(trigger.end)
    if (this.#reads(lazy.grammar, marker + rest)) {
      chooser.setGrammar(lazy.grammar, [...this.#vocabulary.tokenize(marker + rest)])
      return unchanged
    }
    chooser.setGrammar(lazy.grammar, [...this.#vocabulary.tokenize(marker)])
    const shown = whole.slice(before.length, trigger.end)
    return { text: shown, tokens: [...this.#vocabulary.tokenizeMarkup(shown)] }
  }

  #reads(grammar: string, text: string): boolean {
    const state = this.#native.createGrammarState(grammar)
    return this.#vocabulary.tokenize(text).every((token) => this.#native.acceptToken(state, token))
  }
}

function firstTrigger(text: string, triggers: readonly string[]): { start: number; end: number } | null {
  let first: { start: number; end: number } | null = null
  for (const trigger of triggers) {
    const start = trigger === '' ? -1 : text.indexOf(trigger)
    if (start !== -1 && (first === null || start < first.start)) first = { start, end: start + trigger.length }
  }
  return first
}

function longest(texts: readonly string[]): number {
  return Math.max(1, ...texts.map(({ length }) => length))
}
