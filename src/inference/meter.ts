import {
  addAnswer,
  inputTokens,
  zeroUsage,
  type CacheReport,
  type GenerationEvent,
  type Usage,
} from '../core/generation.ts'

/** What counts one of a request's answers. */
export type AnswerMeter = {
  /** Returns what the answer has used so far. */
  count(event: GenerationEvent): Usage
  /** Takes the engine's own final counts of an answer that was aborted, where they are ahead of its events. */
  correct(final: Usage): void
}

export type Measured = {
  readonly usage: Usage
  readonly cache: CacheReport | null
  readonly firstEventMs: number | null
  readonly firstTokenMs: number | null
}

/**
 * Follows the events of a request's answers as they are made.
 *
 * It is the only one that counts: slots are charged, limits settled and the ledger's row written by what it says.
 */
export class Meter {
  readonly #elapsedMs: () => number
  /** Of each answer, in the order of the answers. */
  readonly #usages: Usage[]
  #cache: CacheReport | null = null
  #firstEventMs: number | null = null
  #firstTokenMs: number | null = null

  constructor(choiceCount: number, elapsedMs: () => number) {
    this.#usages = Array.from({ length: choiceCount }, () => zeroUsage)
    this.#elapsedMs = elapsedMs
  }

  /** That of one answer, by its number. */
  of(answer: number): AnswerMeter {
    return {
      count: (event) => {
        this.#firstEventMs ??= this.#elapsedMs()
        // Further answers to the same request find its prompt in the cache, which says nothing about the request.
        if (event.type === 'start') this.#cache ??= event.cache ?? null
        if (event.type === 'delta') this.#firstTokenMs ??= this.#elapsedMs()
        return (this.#usages[answer] = usageAfter(this.#usages[answer] ?? zeroUsage, event))
      },
      correct: (final) => {
        const counted = this.#usages[answer] ?? zeroUsage
        if (final.output >= counted.output && inputTokens(final) > 0) this.#usages[answer] = final
      },
    }
  }

  read(): Measured {
    return {
      usage: this.#usages.reduce(addAnswer, zeroUsage),
      cache: this.#cache,
      firstEventMs: this.#firstEventMs,
      firstTokenMs: this.#firstTokenMs,
    }
  }
}

function usageAfter(usage: Usage, event: GenerationEvent): Usage {
  if (event.type === 'start' || event.type === 'finish') return event.usage
  return event.type === 'delta' ? { ...usage, output: usage.output + event.tokens } : usage
}
