import { contextExceeded } from '../../../core/error.ts'
import type { EngineRequest, GenerationEvent, FinishReason } from '../../../core/generation.ts'
import type { ThinkingTags } from '../../../chat-format/probe-template.ts'
import { eventsInFlightMax, type TaskId } from '../ipc.ts'
import type { PreparedText, Prompt } from '../../text/prepared-text.ts'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import { createAnswerParser } from '../../text/answer/answer-parser.ts'
import { AnswerWriter } from '../../text/answer/answer-writer.ts'
import { reservedTokens } from '../../text/answer/reserved-tokens.ts'
import type { Native, LogitIndex } from './native.ts'
import type { PromptToPlace } from './prompt-cache/find-candidates.ts'
import type { Placement } from './prompt-cache/prompt-cache.ts'
import { answerGap, closingTokens } from '../../text/model-text.ts'
import { describeToken } from '../../text/prompt/prompt-builder.ts'
import { Speculator } from './speculation/speculator.ts'
import { Steering } from './sampling/steering.ts'
import { TokenChooser } from './sampling/token-chooser.ts'
import type { Vocabulary } from '../../text/vocabulary.ts'

/** One generation in the child, from its prompt to its last event. */
export type Task = {
  readonly id: TaskId
  /** Whose it is: steps are shared out among keys. */
  readonly apiKeyId: string
  readonly writer: AnswerWriter
  readonly steering: Steering
  /** Made when a slot takes the task: it holds native memory. */
  createChooser(): TokenChooser
  outputTokensMax: number
  /** What it means when `outputTokensMax` is reached. */
  limitKind: 'length' | 'window'
  /** The number of tokens at which the answer waits until more are allowed. */
  outputTokensAllowed: number
  /** The number of tokens at which it asks for more. */
  asksAt: number
  readonly closeThinkingTokens: Uint32Array
  mustCloseThinking(): boolean
  /** What the writer has produced and the loop has not sent yet. */
  readonly events: GenerationEvent[]
  readonly prompt: PromptToPlace & Pick<Prompt, 'blocks'>
  /** Tokens that the slot has yet to compute, and the position of the first of them. */
  pending: Uint32Array
  position: number
  chooser: TokenChooser | null
  /** Milliseconds that choosing its tokens of a step takes, by the last few; with a grammar it may take longer than to compute them. */
  choosingMs: number
  /** Null where nothing is computed ahead. */
  readonly speculator: Speculator | null
  isAborted: boolean
  eventsInFlight: number
}

export type TaskContext = {
  readonly native: Native
  readonly vocabulary: Vocabulary
  readonly tags: ThinkingTags | null
  /** Null where the template cannot carry calls. */
  readonly toolFormat: ToolFormat | null
}

/** A request with what was worked out for it. */
type PlannedRequest = PreparedText & { readonly request: EngineRequest }

/** Checks that the prompt fits and sets the task up. Throws `context-exceeded` with the exact numbers. */
export function createTask(id: TaskId, { request, prompt, plan }: PlannedRequest, context: TaskContext): Task {
  const windowTokens = Math.min(context.native.windowTokens, request.windowTokensMax)
  const inputTokens = prompt.tokens.length
  if (inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
  const closeThinkingTokens = closingTokens(context.vocabulary, context.tags)
  const thinkingTokensMax = request.thinking.kind === 'on' ? request.thinking.tokensMax : null
  const budgets = prompt.thinks && thinkingTokensMax !== null
  const { native, vocabulary, tags, toolFormat } = context
  const own = { closeThinkingTokens, gapTokens: vocabulary.tokenize(answerGap) }
  const room = windowTokens - inputTokens - reservedTokens(request, { prompt, plan }, own)
  const toolCalls = createAnswerParser(request, plan, toolFormat)
  const events: GenerationEvent[] = []
  const writer = new AnswerWriter({
    request,
    prompt,
    tags,
    toolCalls,
    dropsRemainder: plan.forced !== null,
    isCallsOnly: plan.isCallsOnly,
    vocabulary,
    emit: (event) => events.push(event),
  })
  return {
    id,
    apiKeyId: request.owner.apiKeyId,
    writer,
    steering: new Steering(native, vocabulary, plan, tags),
    createChooser: () => new TokenChooser(native, vocabulary, request, plan.banned),
    outputTokensMax: Math.max(0, Math.min(request.outputTokensMax, room)),
    limitKind: request.outputTokensMax <= room ? 'length' : 'window',
    outputTokensAllowed: Infinity,
    asksAt: Infinity,
    closeThinkingTokens,
    mustCloseThinking: () => budgets && writer.isThinking && writer.thinkingTokens >= thinkingTokensMax,
    events,
    // Computed in other portions, a prompt comes out a little different: the reproducible lane computes all of it.
    prompt: { ...prompt, namespace: native.isReproducible ? `task ${id}` : request.owner.organizationId },
    pending: prompt.tokens,
    position: 0,
    chooser: null,
    choosingMs: 0,
    speculator: native.draftTokensMax === 0 ? null : new Speculator(native.draftTokensMax),
    isAborted: false,
    eventsInFlight: 0,
  }
}

/** Lets an answer grow to so many tokens, and ask for more when half of what is new has been made. */
export function allowOutput(task: Task, outputTokens: number): void {
  const before = Number.isFinite(task.outputTokensAllowed) ? task.outputTokensAllowed : 0
  task.outputTokensAllowed = outputTokens
  task.asksAt = outputTokens - Math.floor((outputTokens - before) / 2)
}

/** Whether a step may compute something of it: its events are taken, and its answer has not all the tokens that it may have for now. */
export function isRunnable({ isAborted, eventsInFlight, writer, outputTokensAllowed }: Task): boolean {
  return !isAborted && eventsInFlight < eventsInFlightMax && writer.outputTokens < outputTokensAllowed
}

/** Whether its answer has begun and has all the tokens that it may ever have. */
export function isAtEnd({ isAborted, writer: { outputTokens }, outputTokensMax }: Task): boolean {
  return !isAborted && outputTokens > 0 && outputTokens >= outputTokensMax
}

/** Lowers the most output of a task. */
export function limitOutput(task: Task, outputTokensMax: number): void {
  if (outputTokensMax >= task.outputTokensMax) return
  task.outputTokensMax = outputTokensMax
  task.limitKind = 'length'
}

/** Readies a task that has got its slot for its first token. Throws where its grammar is not one to the native parser. */
export function beginTask(task: Task, { reused, source, differsAt }: Placement): void {
  task.position = reused
  task.pending = task.prompt.tokens.subarray(reused)
  task.writer.countCached(reused, task.prompt.breakpoints)
  const chooser = task.createChooser()
  task.chooser = chooser
  if (task.writer.isAnswering) task.steering.beginAnswer(chooser)
  else task.steering.beginThinking(chooser)
  const differs = differsAt === null ? null : { atToken: differsAt, in: describeToken(task.prompt, differsAt) }
  task.writer.start({ source, reusedTokens: reused, differs })
}

/**
 * Chooses an answer's next token and makes it what is computed next, with what the engine puts behind it.
 *
 * Returns why the answer ends there; null while it goes on.
 */
export async function advanceAnswer(task: Task, logit: LogitIndex): Promise<FinishReason | null> {
  if (task.isAborted || task.chooser === null) return null
  if (task.outputTokensMax === 0) return { kind: task.limitKind }
  const { token, logprob } = await task.chooser.choose(logit)
  task.speculator?.observe(token)
  const wasAnswering = task.writer.isAnswering
  const steered = wasAnswering ? task.steering.take(token, task.chooser) : { text: null, tokens: [token] }
  const reason = task.writer.accept(token, logprob, steered.text === null ? null : Buffer.from(steered.text))
  if (reason !== null) return reason
  if (task.writer.outputTokens >= task.outputTokensMax) return { kind: task.limitKind }
  const closing = task.mustCloseThinking() ? task.closeThinkingTokens : []
  if (closing.length > 0) task.writer.closeThinking()
  const gap = !wasAnswering && task.writer.isAnswering ? task.steering.beginAnswer(task.chooser) : []
  // The engine's own closing ends with the gap already.
  task.pending = Uint32Array.of(...steered.tokens, ...closing, ...(closing.length > 0 ? [] : gap))
  return null
}
