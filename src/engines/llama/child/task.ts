import { randomInt } from 'node:crypto'
import { ApiError } from '../../../core/error.ts'
import type { EngineRequest, GenerationEvent, Sampling } from '../../../core/generation.ts'
import type { ThinkingTags } from '../../../prompts/probe-template.ts'
import type { TaskId } from '../ipc.ts'
import { AnswerWriter } from './answer-writer.ts'
import type { NativeSampler, SamplerConfig } from './native.ts'
import type { Prompt } from './prompt-builder.ts'
import type { Vocabulary } from './vocabulary.ts'

/** One generation in the child, from its prompt to its last event. */
export type Task = {
  readonly id: TaskId
  readonly writer: AnswerWriter
  readonly samplerConfig: SamplerConfig
  readonly outputTokensMax: number
  /** What it means when `outputTokensMax` is reached. */
  readonly limitKind: 'length' | 'window'
  readonly closeThinkingTokens: Uint32Array
  mustCloseThinking(): boolean
  /** What the writer has produced and the loop has not sent yet. */
  readonly events: GenerationEvent[]
  /** Tokens that the slot has yet to compute, and the position of the first of them. */
  pending: Uint32Array
  position: number
  sampler: NativeSampler | null
  isAborted: boolean
  eventsInFlight: number
}

export type TaskContext = {
  readonly vocabulary: Vocabulary
  readonly tags: ThinkingTags | null
  readonly windowTokens: number
}

/** Checks that the prompt fits and sets the task up. Throws `context-exceeded` with the exact numbers. */
export function createTask(id: TaskId, request: EngineRequest, prompt: Prompt, context: TaskContext): Task {
  const windowTokens = Math.min(context.windowTokens, request.windowTokensMax)
  const inputTokens = prompt.tokens.length
  if (inputTokens >= windowTokens) {
    throw new ApiError(
      { code: 'context-exceeded', inputTokens, windowTokens },
      'The prompt exceeds the context window.',
    )
  }
  const closeThinkingTokens = context.vocabulary.tokenize(`\n${context.tags?.close ?? ''}\n\n`)
  const thinkingTokensMax = request.thinking.kind === 'on' ? request.thinking.tokensMax : null
  const budgets = prompt.thinks && thinkingTokensMax !== null
  const room = windowTokens - inputTokens - (budgets ? closeThinkingTokens.length : 0)
  const { vocabulary, tags } = context
  const events: GenerationEvent[] = []
  const writer = new AnswerWriter({ request, prompt, tags, vocabulary, emit: (event) => events.push(event) })
  return {
    id,
    writer,
    samplerConfig: toSamplerConfig(request.sampling, room),
    outputTokensMax: Math.max(0, Math.min(request.outputTokensMax, room)),
    limitKind: request.outputTokensMax <= room ? 'length' : 'window',
    closeThinkingTokens,
    mustCloseThinking: () => budgets && writer.isThinking && writer.usage().outputThinking >= thinkingTokensMax,
    events,
    pending: prompt.tokens,
    position: 0,
    sampler: null,
    isAborted: false,
    eventsInFlight: 0,
  }
}

/** Unset values switch a sampler off: the library's own defaults would cut the distribution. */
function toSamplerConfig(sampling: Sampling, historyTokens: number): SamplerConfig {
  const hasPenalty =
    sampling.presencePenalty !== 0 || sampling.frequencyPenalty !== 0 || sampling.repetitionPenalty !== 1
  return {
    temperature: sampling.temperature ?? 1,
    topP: sampling.topP ?? 1,
    topK: Math.max(0, sampling.topK ?? 0),
    minP: sampling.minP ?? 0,
    // Without a seed of its own each request would share the clock's.
    seed: sampling.seed ?? randomInt(0, 2 ** 32 - 1),
    // The sampler notes the tokens it chose, so the history starts empty and is never sent again.
    ...(hasPenalty && {
      repeatPenalty: sampling.repetitionPenalty,
      repeatPenaltyMaxTokens: historyTokens,
      repeatPenaltyTokens: new Uint32Array(),
      repeatPenaltyPresencePenalty: sampling.presencePenalty,
      repeatPenaltyFrequencyPenalty: sampling.frequencyPenalty,
    }),
  }
}
