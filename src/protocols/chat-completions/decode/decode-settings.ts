import {
  repetitionPenaltyMax,
  repetitionPenaltyMin,
  topKMax,
  topPMin,
  type Sampling,
  type JsonSchema,
  type OutputFormat,
  type ThinkingChoice,
} from '../../../core/generation.ts'
import { stopSequenceLengthMax, stopSequencesMax } from '../../stop-sequences.ts'
import { fieldError } from '../error.ts'
import type { ChatBody } from './schema.ts'
import type { ErrorPath } from '../../../core/error.ts'
import { parseJson } from '../../../lib/json/parse-json.ts'

export function decodeSampling(body: ChatBody): Sampling {
  const repetitionPenalty = body.repetition_penalty ?? body.repeat_penalty ?? 1
  return {
    temperature: body.temperature ?? null,
    topP: body.top_p === undefined ? null : Math.max(topPMin, body.top_p),
    // Zero is "off", which is not the same as leaving the choice to the model.
    topK: body.top_k === undefined ? null : Math.min(Math.max(0, body.top_k), topKMax),
    minP: body.min_p ?? null,
    presencePenalty: body.presence_penalty ?? 0,
    frequencyPenalty: body.frequency_penalty ?? 0,
    repetitionPenalty: Math.min(Math.max(repetitionPenaltyMin, repetitionPenalty), repetitionPenaltyMax),
    seed: body.seed === undefined ? null : reduceSeed(body.seed),
    logitBias: decodeLogitBias(body.logit_bias ?? {}),
  }
}

/**
 * A small seed is kept, so that an engine run by hand gives the same answer. Others
 * are hashed by their decimal digits (FNV-1a): cutting bits off would send every
 * seed that was rounded to a multiple of 2^32 to the same few numbers.
 */
function reduceSeed(seed: number): number {
  if (seed >= 0 && seed <= 0xffff_ffff) return seed + 0
  let hash = 0x811c_9dc5
  for (const character of BigInt(seed).toString()) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193) >>> 0
  }
  return hash
}

function decodeLogitBias(biases: Readonly<Record<string, number>>): Sampling['logitBias'] {
  return Object.entries(biases).map(([token, bias]) => {
    if (!/^\d{1,9}$/.test(token)) throw fieldError(['logit_bias', token], 'value', 'expected the number of a token')
    return [Number(token), bias]
  })
}

type OutputLimits = { readonly outputTokensMax: number | null; readonly outputTokensMin: number }

export function decodeOutputLimits(body: ChatBody): OutputLimits {
  const requested = body.max_completion_tokens ?? body.max_tokens ?? null
  const outputTokensMax = requested === null ? null : Math.min(requested, Number.MAX_SAFE_INTEGER)
  return {
    outputTokensMax,
    outputTokensMin: Math.min(body.min_tokens ?? 0, outputTokensMax ?? Number.MAX_SAFE_INTEGER),
  }
}

export function decodeStops({ stop }: ChatBody): readonly string[] {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? [])
  if (stops.length > stopSequencesMax) {
    throw fieldError(['stop'], 'value', `expected at most ${stopSequencesMax} sequences`)
  }
  const long = stops.findIndex(({ length }) => length > stopSequenceLengthMax)
  if (long !== -1) {
    const path = typeof stop === 'string' ? ['stop'] : ['stop', long]
    throw fieldError(path, 'value', `expected at most ${stopSequenceLengthMax} characters`)
  }
  return stops.filter((sequence) => sequence !== '')
}

export function decodeLogprobs(body: ChatBody): number | null {
  if (body.logprobs === true) return body.top_logprobs ?? 0
  if (body.top_logprobs !== undefined) throw fieldError(['top_logprobs'], 'value', 'it needs logprobs to be true')
  return null
}

export function decodeOutput(body: ChatBody): OutputFormat {
  if (body.response_format !== undefined) return decodeResponseFormat(body.response_format)
  if (body.guided_json !== undefined) return toJson(decodeGuidedJson(body.guided_json), ['guided_json'])
  if (body.json_schema !== undefined) return toJson(body.json_schema, ['json_schema'])
  return { kind: 'text' }
}

function decodeResponseFormat(format: NonNullable<ChatBody['response_format']>): OutputFormat {
  switch (format.type) {
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return toJson(format.schema ?? null, ['response_format', 'schema'])
    case 'json_schema':
      if (format.json_schema === undefined) throw fieldError(['response_format', 'json_schema'], 'missing', '')
      return {
        kind: 'json',
        schema: format.json_schema.schema ?? null,
        schemaPath: ['response_format', 'json_schema', 'schema'],
        isStrict: format.json_schema.strict ?? false,
      }
    default:
      throw fieldError(
        ['response_format', 'type'],
        'unsupported-value',
        'expected "text", "json_object" or "json_schema"',
      )
  }
}

/** The forms without a word on strictness come from servers that keep a schema or refuse it. */
function toJson(schema: JsonSchema | null, schemaPath: ErrorPath): OutputFormat {
  return { kind: 'json', schema, schemaPath, isStrict: true }
}

function decodeGuidedJson(schema: string | JsonSchema): JsonSchema {
  if (typeof schema !== 'string') return schema
  const parsed = parseJson(schema)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as JsonSchema
  throw fieldError(['guided_json'], 'value', 'expected a JSON Schema')
}

/** The first spelling present wins, in the order of this list. */
export function decodeThinking(body: ChatBody): ThinkingChoice {
  if (body.reasoning_effort !== undefined) return { kind: 'effort', effort: body.reasoning_effort }
  return (
    fromReasoning(body.reasoning) ??
    fromThinking(body.thinking) ??
    fromSwitch(body.enable_thinking, body.thinking_budget) ??
    fromSwitch(body.chat_template_kwargs?.enable_thinking ?? body.chat_template_kwargs?.thinking, undefined) ??
    fromSwitch(undefined, body.thinking_budget_tokens) ?? { kind: 'default' }
  )
}

/** Hidden reasoning still happens and is still counted. */
export function hidesThinking(body: ChatBody): boolean {
  return body.reasoning?.exclude === true || body.include_reasoning === false
}

function fromReasoning(reasoning: ChatBody['reasoning']): ThinkingChoice | null {
  if (reasoning === undefined) return null
  if (reasoning.enabled === false) return { kind: 'off' }
  if (reasoning.effort !== undefined) return { kind: 'effort', effort: reasoning.effort }
  return fromSwitch(reasoning.enabled, reasoning.max_tokens)
}

function fromThinking(thinking: ChatBody['thinking']): ThinkingChoice | null {
  switch (thinking?.type) {
    case undefined:
      return null
    case 'disabled':
      return { kind: 'off' }
    case 'enabled':
      return fromSwitch(true, thinking.budget_tokens)
    case 'adaptive':
      return { kind: 'effort', effort: 'high' }
  }
}

/** A budget of zero turns thinking off, a negative one leaves it unlimited. */
function fromSwitch(isOn: boolean | undefined, budget: number | undefined): ThinkingChoice | null {
  if (isOn === undefined && budget === undefined) return null
  if (isOn === false || budget === 0) return { kind: 'off' }
  return { kind: 'on', tokensMax: budget === undefined || budget < 0 ? null : budget }
}
