import { ReplicaFault } from '../dialect.ts'
import type { MessageRequest, MessageStep, ReportedUsage } from './message-dialect.ts'

/** No vocabulary has tokens of text that are longer, runs of white space aside. */
const tokenBytesMost = 128
/** On average, over a whole prompt, tokens have a third of this. */
const promptTokenBytesMost = 16

/**
 * Holds what a server counts against what it was sent and has said, as far as that can be told without its tokenizer.
 *
 * A count may be wrong by some and nobody notices; one that cannot be is found out.
 */
export class CountedOutput {
  readonly #promptTokensLeast: number
  readonly #outputTokensMax: number
  #bytes = 0

  constructor({ messages, outputTokensMax }: Pick<MessageRequest, 'messages' | 'outputTokensMax'>) {
    const bytes = messages.reduce((sum, { content }) => sum + bytesOf(content ?? ''), 0)
    this.#promptTokensLeast = Math.max(1, Math.floor(bytes / promptTokenBytesMost))
    this.#outputTokensMax = outputTokensMax
  }

  take(steps: readonly MessageStep[]): void {
    for (const step of steps) if (step.kind === 'text' || step.kind === 'thinking') this.#bytes += bytesOf(step.text)
  }

  /** Throws a ReplicaFault for counts that cannot be right. */
  check({ promptTokens, cachedTokens, outputTokens, thinkingTokens }: ReportedUsage): void {
    if (promptTokens < 1) throw lied('It counted no token of its prompt.')
    // A client can write what has uncommonly long tokens, so this is not held against the server.
    if (promptTokens < this.#promptTokensLeast) {
      const least = `${promptTokens} tokens of a prompt that has about ${this.#promptTokensLeast} at the least`
      throw new ReplicaFault('rejected', `It counted ${least}: it seems to cut what is too long for its window.`)
    }
    if (cachedTokens > promptTokens)
      throw lied(`It says that it had ${cachedTokens} tokens of a prompt of ${promptTokens}.`)
    if (outputTokens > this.#outputTokensMax)
      throw lied(`It counted ${outputTokens} tokens of an answer that may have ${this.#outputTokensMax}.`)
    if (outputTokens * tokenBytesMost < this.#bytes)
      throw lied(`It counted ${outputTokens} tokens of an answer of ${this.#bytes} bytes.`)
    if (thinkingTokens > outputTokens)
      throw lied(`It counted ${thinkingTokens} tokens of thinking in an answer of ${outputTokens}.`)
  }
}

/**
 * The fewest tokens that an answer's pieces can have. There is hardly ever one in which there are none; but the token in which
 * thinking ends may come as two, and what announces a call is made by the server.
 */
export class LeastTokens {
  #last: MessageStep['kind'] | null = null
  #count = 0

  get count(): number {
    return this.#count
  }

  take({ kind }: MessageStep): void {
    if ((kind === 'text' || kind === 'thinking') && (this.#last === null || this.#last === kind)) this.#count += 1
    this.#last = kind
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text.replaceAll(/\s+/gu, ' '))
}

function lied(message: string): ReplicaFault {
  return new ReplicaFault('lied', message)
}
