import type { Priority } from './tier.ts'
import type { ErrorPath } from './error.ts'

/** A JSON Schema as the client sent it, key order kept: another order would change the prompt. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * What a client asked for: the one request every wire format decodes into.
 *
 * `inference` resolves it against the model on offer into an `EngineRequest`.
 */
export type GenerationRequest = {
  /** As the client wrote it; it may name no model on offer. */
  readonly model: string
  readonly messages: readonly Message[]
  /** The last message is an assistant turn that the model continues instead of answering. */
  readonly continuesFinalMessage: boolean
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  readonly thinking: ThinkingChoice
  readonly output: OutputFormat
  readonly sampling: Sampling
  /** Zero computes the prompt and generates nothing; null leaves the limit to the model. */
  readonly outputTokensMax: number | null
  readonly outputTokensMin: number
  readonly stopSequences: readonly string[]
  /** Whether a matched stop sequence is part of the answer's text. */
  readonly includesStopSequence: boolean
  /** How many alternatives to report per token; null reports no log-probabilities at all. */
  readonly logprobsTop: number | null
  readonly choiceCount: number
  /** What its text takes in memory, where it is known already: to look at a large one takes a while. */
  readonly bytes?: number
}

/** Whom a request is for, as its client says: below the key, which may serve many. */
export type Attribution = {
  readonly endUser: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** A request with every choice made: what an engine is given. */
export type EngineRequest = Omit<GenerationRequest, 'thinking' | 'outputTokensMax' | 'choiceCount'> & {
  readonly thinking: Thinking
  readonly outputTokensMax: number
  /**
   * The served model's own limit on prompt and answer together; an engine's smaller one wins.
   * Infinity for a prompt that is only counted, however long it is, and never run.
   */
  readonly windowTokensMax: number
  readonly owner: Owner
  /** By which an operator finds it. */
  readonly requestId: string
  /** The W3C header by which an engine elsewhere continues the request's trace. */
  readonly traceparent?: string
}

/** The owner of a request: what an engine holds for one organization is never used for another. */
export type Owner = {
  readonly organizationId: string
  readonly apiKeyId: string
  /** How soon its requests have their turn; absent, as those of others. */
  readonly priority?: Priority
}

export type Message =
  | { readonly role: 'system'; readonly content: readonly TextBlock[] }
  | { readonly role: 'user'; readonly content: readonly (TextBlock | ImageBlock | ToolResultBlock)[] }
  | { readonly role: 'assistant'; readonly content: readonly (ThinkingBlock | TextBlock | ToolCallBlock)[] }

/** Marks the end of a prefix the client asked to have cached, and for how long. A message to be continued has no marks. */
type Cacheable = { readonly cacheBreakpoint?: { readonly lifetime: '5m' | '1h' } }

export type TextBlock = Cacheable & { readonly kind: 'text'; readonly text: string }
export type ImageBlock = Cacheable & {
  readonly kind: 'image'
  /** Null, as its data, where the request names an address or a file: nothing is fetched. */
  readonly mediaType: string | null
  readonly data: Uint8Array | null
  /** Where the request held it, for the error of a model that takes text only. */
  readonly path: ErrorPath
}
export type ThinkingBlock = { readonly kind: 'thinking'; readonly text: string }
export type ToolCallBlock = Cacheable & {
  readonly kind: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text, normally of an object; a client may replay text that does not parse. */
  readonly arguments: string
}
export type ToolResultBlock = Cacheable & {
  readonly kind: 'tool-result'
  readonly toolCallId: string
  readonly isError: boolean
  readonly content: readonly (TextBlock | ImageBlock)[]
}

export type Tool = Cacheable & {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly isStrict: boolean
  /** Where the request held its schema, for the error of one that cannot be kept. */
  readonly schemaPath: ErrorPath
  /** A `text` tool takes one free string instead of an object. */
  readonly input: 'json' | 'text'
}

export type ToolChoice =
  | {
      readonly kind: 'auto' | 'none' | 'required'
      readonly parallel: boolean
      readonly allowed: readonly string[] | null
    }
  | { readonly kind: 'named'; readonly name: string; readonly parallel: boolean }

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export type ThinkingChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'effort'; readonly effort: Effort }
  | Thinking

export type Thinking = { readonly kind: 'off' } | { readonly kind: 'on'; readonly tokensMax: number | null }

/** A null schema asks for any JSON object. */
export type OutputFormat =
  | { readonly kind: 'text' }
  | {
      readonly kind: 'json'
      readonly schema: JsonSchema | null
      readonly schemaPath: ErrorPath
      /** Refused unless it can be kept to the last word; else it is kept as far as possible. */
      readonly isStrict: boolean
    }

/** Null leaves a setting to the model; a penalty of 0 (or 1 for repetition) is off. */
export type Sampling = {
  readonly temperature: number | null
  /** At least `topPMin`. */
  readonly topP: number | null
  /** At most `topKMax`. */
  readonly topK: number | null
  readonly minP: number | null
  readonly presencePenalty: number
  readonly frequencyPenalty: number
  /** From `repetitionPenaltyMin` to `repetitionPenaltyMax`. */
  readonly repetitionPenalty: number
  /** An unsigned 32-bit number. */
  readonly seed: number | null
  readonly logitBias: readonly (readonly [token: number, bias: number])[]
}

/** No vocabulary has so many tokens. Engines hold the number in 32 bits: a larger one would come out as any other. */
export const topKMax = 2 ** 31 - 1

/** The one likeliest token, which a nucleus of nothing means. Engines refuse a plain zero, and hold numbers in single precision. */
export const topPMin = Number.EPSILON

/** Beyond these nothing changes but that engines, which divide by it in single precision, come to infinity. */
export const [repetitionPenaltyMin, repetitionPenaltyMax] = [0.01, 100]

/** Leaves every setting to the model. */
export const modelSampling: Sampling = {
  temperature: null,
  topP: null,
  topK: null,
  minP: null,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repetitionPenalty: 1,
  seed: null,
  logitBias: [],
}

/**
 * The one stream every engine produces and every wire format encodes.
 *
 *     stream = start (block-start delta* block-end)* finish
 *
 * Where a request asks for several answers, a wire format is given as many such
 * streams, one after the other.
 *
 * One block is open at a time and blocks never interleave. A failed generation
 * throws an ApiError from the iterator, an aborted one a GenerationAborted;
 * there is no error event.
 */
export type GenerationEvent =
  | { readonly type: 'start'; readonly usage: Usage; readonly cache?: CacheReport }
  | { readonly type: 'block-start'; readonly block: BlockStart }
  | {
      readonly type: 'delta'
      readonly text: string
      readonly tokens: number
      readonly logprobs?: readonly TokenLogprob[]
    }
  | { readonly type: 'block-end' }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: Usage }

/** Says where an engine took the beginning of a prompt from, and why it took no more. */
export type CacheReport = {
  readonly source: 'slot' | 'copy' | 'memory' | 'disk' | 'none'
  readonly reusedTokens: number
  /** The first token in which the prompt differs from the nearest one held for the same organization, and where that is. */
  readonly differs: { readonly atToken: number; readonly in: string } | null
}

export type BlockStart =
  | { readonly kind: 'thinking' }
  | { readonly kind: 'text' }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string }

export type TokenLogprob = {
  readonly bytes: Uint8Array
  readonly logprob: number
  readonly top: readonly { readonly bytes: Uint8Array; readonly logprob: number }[]
}

/** `window` is a full context window, `length` the limit the client (or the model's cap) set. */
export type FinishReason =
  | { readonly kind: 'end' | 'length' | 'window' | 'tool-calls' | 'refusal' }
  | { readonly kind: 'stop-sequence'; readonly sequence: string }

/** Token counts. The three input counts are disjoint; their sum is the prompt. */
export type Usage = {
  readonly inputUncached: number
  readonly inputCacheRead: number
  readonly inputCacheWrite: number
  /** The part of `inputCacheWrite` that is kept for an hour; the rest is kept for five minutes. */
  readonly inputCacheWriteLong: number
  /** Every token the model produced, the one that ends the answer included. */
  readonly output: number
  /** The part of `output` spent in thinking blocks. */
  readonly outputThinking: number
}

export const zeroUsage: Usage = {
  inputUncached: 0,
  inputCacheRead: 0,
  inputCacheWrite: 0,
  inputCacheWriteLong: 0,
  output: 0,
  outputThinking: 0,
}

/** The whole prompt, cached or not. */
export function inputTokens({ inputUncached, inputCacheRead, inputCacheWrite }: Usage): number {
  return inputUncached + inputCacheRead + inputCacheWrite
}

/**
 * Adds a further answer to the same request: they share its prompt, which counts once.
 *
 * It counts as in the answer for which it was computed; the others found it in the cache, whichever began first.
 */
export function addAnswer(sum: Usage, answer: Usage): Usage {
  if (inputTokens(sum) === 0) return answer
  const isComputed = inputTokens(answer) > 0 && answer.inputCacheRead < sum.inputCacheRead
  const { inputUncached, inputCacheRead, inputCacheWrite, inputCacheWriteLong } = isComputed ? answer : sum
  return {
    inputUncached,
    inputCacheRead,
    inputCacheWrite,
    inputCacheWriteLong,
    output: sum.output + answer.output,
    outputThinking: sum.outputThinking + answer.outputThinking,
  }
}

/** Thrown by an engine's stream after its signal fired; `usage` counts all the engine did until it stopped. */
export class GenerationAborted extends Error {
  override readonly name = 'GenerationAborted'
  readonly usage: Usage

  constructor(usage: Usage) {
    super('The generation was aborted.')
    this.usage = usage
  }
}
