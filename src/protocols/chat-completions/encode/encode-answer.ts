import type { GeneratedBlock, Generation } from '../../../core/collect.ts'
import {
  addAnswer,
  inputTokens,
  zeroUsage,
  type BlockStart,
  type FinishReason,
  type TokenLogprob,
  type Usage,
} from '../../../core/generation.ts'
import type { AnswerMeta, Json } from '../../protocol.ts'

/** What a request said about the form of its answer. */
export type AnswerShape = {
  readonly systemFingerprint: string
  readonly includesUsage: boolean
  readonly hidesThinking: boolean
  /** Names of the tools whose calls carry free text instead of JSON. */
  readonly textTools: ReadonlySet<string>
  /** The one call of the answer goes out as `function_call`. */
  readonly isLegacy: boolean
}

type CallBlock = Extract<GeneratedBlock, { kind: 'tool-call' }>

/** Encodes a whole answer. The parts that a stream has in common with it stand below. */
export function encodeAnswer(answers: readonly Generation[], meta: AnswerMeta, shape: AnswerShape): Json {
  return {
    ...answerHead(meta, 'chat.completion'),
    choices: answers.map((answer, index) => encodeChoice(answer, index, shape)),
    usage: encodeUsage(answers.map(({ usage }) => usage).reduce(addAnswer, zeroUsage)),
    service_tier: 'default',
    system_fingerprint: shape.systemFingerprint,
  }
}

function encodeChoice(answer: Generation, index: number, shape: AnswerShape): Json {
  const passes = createBlockGate(shape)
  const blocks = answer.blocks.filter(({ kind }) => passes(kind))
  const hasCalls = blocks.some(({ kind }) => kind === 'tool-call')
  return {
    index,
    message: encodeMessage(blocks, isCut(answer.reason) ? answer.blocks.at(-1) : undefined, shape),
    logprobs: collectLogprobs(blocks),
    finish_reason: encodeFinishReason(answer.reason, hasCalls, shape.isLegacy),
  }
}

function encodeMessage(blocks: readonly GeneratedBlock[], cut: GeneratedBlock | undefined, shape: AnswerShape): Json {
  const thinking = joinText(blocks, 'thinking')
  const text = joinText(blocks, 'text')
  const calls = blocks
    .filter((block) => block.kind === 'tool-call')
    .map((block) => encodeCall(block, block === cut, shape))
  const [first] = calls
  return {
    role: 'assistant',
    content: text === '' && first !== undefined ? null : text,
    refusal: null,
    annotations: [],
    // Servers and clients are split over the name, so both are sent.
    ...(thinking !== '' && { reasoning_content: thinking, reasoning: thinking }),
    ...(first !== undefined && (shape.isLegacy ? { function_call: first.function ?? null } : { tool_calls: calls })),
  }
}

function joinText(blocks: readonly GeneratedBlock[], kind: 'thinking' | 'text'): string {
  return blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join('')
}

/** Clients parse the arguments of a complete call, so a call without any says `{}`. */
function encodeCall({ id, name, text }: CallBlock, isCutShort: boolean, shape: AnswerShape) {
  if (shape.textTools.has(name)) return { id, type: 'custom', custom: { name, input: text } }
  return { id, type: 'function', function: { name, arguments: text === '' && !isCutShort ? '{}' : text } }
}

function collectLogprobs(blocks: readonly GeneratedBlock[]) {
  const reported = blocks.flatMap((block) => (block.kind === 'text' && block.logprobs !== null ? [block.logprobs] : []))
  return reported.length === 0 ? null : encodeLogprobs(reported.flat())
}

/** Tells whether the answer was cut, so that its last call may be a fragment. */
export function isCut(reason: FinishReason): boolean {
  return reason.kind === 'length' || reason.kind === 'window'
}

/** Agents go on only after `tool_calls`, so any complete call says so, forced and stopped ones included. */
export function encodeFinishReason(reason: FinishReason, hasCalls: boolean, isLegacy: boolean): string {
  if (isCut(reason)) return 'length'
  if (reason.kind === 'refusal') return 'content_filter'
  if (hasCalls) return isLegacy ? 'function_call' : 'tool_calls'
  return 'stop'
}

/** Fields that the whole answer and every chunk of a stream share, equal in all of them. */
export function answerHead(meta: AnswerMeta, object: 'chat.completion' | 'chat.completion.chunk') {
  return {
    id: `chatcmpl-${meta.requestId.slice('req_'.length)}`,
    object,
    created: Math.floor(meta.createdAtMs / 1000),
    model: meta.model,
  }
}

/**
 * Decides block by block what is sent.
 *
 * The format has one place each for reasoning, text and calls, and its clients
 * expect them in this order: they close a part when the next begins. A block
 * that comes back to an earlier part is left out of whole answers and streams
 * alike, as is a second call where the older form has room for one.
 */
export function createBlockGate(shape: AnswerShape): (kind: BlockStart['kind']) => boolean {
  let latest: BlockStart['kind'] = 'thinking'
  return (kind) => {
    if (rank[kind] < rank[latest]) return false
    if (kind === 'tool-call' && latest === 'tool-call' && shape.isLegacy) return false
    latest = kind
    return kind !== 'thinking' || !shape.hidesThinking
  }
}

const rank: Readonly<Record<BlockStart['kind'], number>> = { thinking: 0, text: 1, 'tool-call': 2 }

/** The format's stand-in for "too unlikely to say"; JSON has no negative infinity. */
const logprobMin = -9999

export function encodeLogprobs(tokens: readonly TokenLogprob[]) {
  const content = tokens.map((token) => ({ ...encodeToken(token), top_logprobs: token.top.map(encodeToken) }))
  return { content, refusal: null }
}

const tokenText = new TextDecoder('utf-8', { ignoreBOM: true })

/** A token may hold part of a character: `token` then shows U+FFFD while `bytes` stays true. */
function encodeToken({ bytes, logprob }: { readonly bytes: Uint8Array; readonly logprob: number }) {
  return {
    token: tokenText.decode(bytes),
    bytes: [...bytes],
    logprob: logprob >= logprobMin ? Math.min(logprob, 0) : logprobMin,
  }
}

export function encodeUsage(usage: Usage) {
  const promptTokens = inputTokens(usage)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: usage.output,
    total_tokens: promptTokens + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.outputThinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
