import type { Sampling } from '../../../core/generation.ts'
import { stopSequenceLengthMax, stopSequencesMax } from '../../stop-sequences.ts'
import { fieldError } from '../error.ts'
import type { ChatBody } from './schema.ts'

/** A nucleus of nothing means the one most likely token; engines refuse a plain zero. */
const smallestNucleus = Number.EPSILON

export function decodeSampling(body: ChatBody): Sampling {
  return {
    temperature: body.temperature ?? null,
    topP: body.top_p === 0 ? smallestNucleus : (body.top_p ?? null),
    // Zero is "off", which is not the same as leaving the choice to the model.
    topK: body.top_k === undefined ? null : Math.max(0, body.top_k),
    minP: body.min_p ?? null,
    presencePenalty: body.presence_penalty ?? 0,
    frequencyPenalty: body.frequency_penalty ?? 0,
    repetitionPenalty: body.repetition_penalty ?? body.repeat_penalty ?? 1,
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
  const wished = body.max_completion_tokens ?? body.max_tokens ?? null
  const outputTokensMax = wished === null ? null : Math.min(wished, Number.MAX_SAFE_INTEGER)
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
