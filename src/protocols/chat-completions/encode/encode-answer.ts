import type { GeneratedBlock, Generation } from '../../../core/collect.ts'
import { addAnswer, zeroUsage } from '../../../core/generation.ts'
import type { AnswerMeta, Json } from '../../protocol.ts'
import { answerHead, createBlockGate, type AnswerShape } from './answer-shape.ts'
import { encodeFinishReason, isCut } from './finish-reason.ts'
import { encodeLogprobs } from './logprobs.ts'
import { encodeUsage } from './usage.ts'

type CallBlock = Extract<GeneratedBlock, { kind: 'tool-call' }>

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
