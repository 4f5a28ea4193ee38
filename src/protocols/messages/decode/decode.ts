import { ApiError } from '../../../core/error.ts'
import {
  modelSampling,
  topKMax,
  topPMin,
  type Effort,
  type GenerationRequest,
  type OutputFormat,
  type Sampling,
  type ThinkingChoice,
} from '../../../core/generation.ts'
import { parseBody } from '../../parse-body.ts'
import type { Json, ShapedCount, ShapedRequest } from '../../protocol.ts'
import type { AnswerShape } from '../encode/encode-answer.ts'
import { fieldError, wordFault } from '../error.ts'
import type { ThinkingSignature } from '../thinking-signature.ts'
import { applyCacheMarks } from './cache-marks.ts'
import { decodeConversation, hasToolResult } from './decode-messages.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import {
  countBodySchema,
  messagesBodySchema,
  type CountBody,
  type MessagesBody,
  type WireThinkingChoice,
} from './schema.ts'

/** What the request itself says about the form of its answer. */
export type RequestShape = Omit<AnswerShape, 'signature'>

type CountShape = { readonly isManaged: boolean }

export function decodeGeneration(body: unknown, signature: ThinkingSignature): ShapedRequest {
  const parsed = parseBody(messagesBodySchema, body, wordFault)
  refuseThread(parsed)
  refuseCompaction(parsed)
  refuseUnservable(parsed)
  const isStream = parsed.stream ?? false
  if (parsed.max_tokens === 0) checkPrewarm(parsed)
  const prompt = decodePrompt(parsed, Math.min(parsed.max_tokens, Number.MAX_SAFE_INTEGER), signature)
  refuseThoughtfulPrefill(parsed, prompt)
  refusePrefilledJson(parsed, prompt)
  const request: GenerationRequest = {
    ...prompt.request,
    sampling: decodeSampling(parsed),
    stopSequences: parsed.stop_sequences ?? [],
  }
  const shape: RequestShape = {
    omitsThinking: prompt.thinking.isOmitted,
    continuesText: request.continuesFinalMessage,
    reportsContextManagement: parsed.context_management !== undefined,
  }
  return { request, isStream, shape, attribution: { endUser: parsed.metadata?.user_id ?? null, metadata: {} } }
}

/** A count is of the prompt alone: nothing that only matters to an answer is checked. */
export function decodeCount(body: unknown, signature: ThinkingSignature): ShapedCount {
  const parsed = parseBody(countBodySchema, body, wordFault)
  refuseThread(parsed)
  refuseCompaction(parsed)
  const { request } = decodePrompt(parsed, null, signature)
  const shape: CountShape = { isManaged: parsed.context_management !== undefined }
  return { request, shape }
}

export function encodeCount(inputTokens: number, shape: unknown): Json {
  const { isManaged } = shape as CountShape
  return {
    input_tokens: inputTokens,
    ...(isManaged && { context_management: { original_input_tokens: inputTokens } }),
  }
}

type DecodedPrompt = { readonly request: GenerationRequest; readonly thinking: DecodedThinking }

function decodePrompt(body: CountBody, outputTokensMax: number | null, signature: ThinkingSignature): DecodedPrompt {
  refuseServerCalls(body)
  const conversation = decodeConversation(body, signature)
  const declared = decodeTools(body.tools ?? [])
  const toolChoice = decodeToolChoice(body.tool_choice, declared)
  const { tools, messages } = applyCacheMarks(body, { tools: declared, ...conversation })
  const lastUserTurn = messages.findLast(({ role }) => role === 'user')
  const thinking = decodeThinking(body.thinking, {
    effort: body.output_config?.effort,
    outputTokensMax,
    followsToolResult: lastUserTurn !== undefined && hasToolResult(lastUserTurn),
  })
  const { continuesFinalMessage } = conversation
  const request: GenerationRequest = {
    model: body.model,
    messages,
    continuesFinalMessage,
    tools,
    toolChoice,
    // Text that has begun leaves no room for thinking before it.
    thinking: continuesFinalMessage && thinking.choice.kind === 'default' ? { kind: 'off' } : thinking.choice,
    output: decodeOutput(body),
    sampling: modelSampling,
    outputTokensMax,
    outputTokensMin: 0,
    stopSequences: [],
    includesStopSequence: false,
    logprobsTop: null,
    choiceCount: 1,
  }
  return { request, thinking }
}

function decodeSampling(body: MessagesBody): Sampling {
  const { temperature = null, top_p: topP, top_k: topK } = body
  return {
    ...modelSampling,
    temperature,
    topP: topP === undefined ? null : Math.max(topPMin, topP),
    topK: topK === undefined ? null : Math.min(topK, topKMax),
  }
}

function decodeOutput(body: CountBody): OutputFormat {
  const configured = body.output_config?.format
  const format = configured ?? body.output_format
  if (format === undefined) return { kind: 'text' }
  const schemaPath = configured === undefined ? ['output_format', 'schema'] : ['output_config', 'format', 'schema']
  return { kind: 'json', schema: format.schema, schemaPath, isStrict: true }
}

/** A continued thread leaves out what came before it, so that an answer would be to half a conversation. */
function refuseThread({ thread }: CountBody): void {
  if (thread === undefined || thread === null) return
  const path = ['thread']
  const message = wordFault(path, 'unsupported-field', 'conversations are not stored here; send the whole conversation')
  throw new ApiError(
    { code: 'invalid-request', path, fault: 'unsupported-field', detail: 'thread-unsupported' },
    message,
  )
}

/** It asks for a summary of the whole conversation in place of an answer, which an answer could be taken for. */
function refuseCompaction({ compaction = {} }: CountBody): void {
  if (isAbsent(compaction['type'])) return
  const text = 'conversations are not compacted here; ask for a summary in a message'
  throw fieldError(['compaction'], 'unsupported-field', text)
}

function refuseServerCalls({ mcp_servers: servers = [] }: CountBody): void {
  if (servers.length === 0) return
  throw fieldError(['mcp_servers'], 'unsupported-field', 'this service does not call other servers')
}

function refuseUnservable({ inference_geo: region = '', container = '' }: MessagesBody): void {
  if (region !== '' && region !== 'global') {
    throw fieldError(['inference_geo'], 'unsupported-value', 'this service cannot pin a request to a region')
  }
  const isEmpty = typeof container === 'string' ? container === '' : Object.values(container).every(isAbsent)
  if (!isEmpty) throw fieldError(['container'], 'unsupported-field', 'containers are not supported')
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** With max_tokens 0 a request only fills the cache; what would need an answer contradicts it. */
function checkPrewarm(body: MessagesBody): void {
  const choice = body.tool_choice?.type
  const conflict = [
    body.stream === true && 'stream',
    body.thinking?.type === 'enabled' && 'thinking',
    decodeOutput(body).kind === 'json' && 'output_config.format',
    (choice === 'any' || choice === 'tool') && `tool_choice.type '${choice}'`,
  ].find((name) => name !== false)
  if (conflict !== undefined) throw fieldError(['max_tokens'], 'value', `0 cannot be combined with ${conflict}`)
}

function refuseThoughtfulPrefill(body: MessagesBody, { request }: DecodedPrompt): void {
  const { kind } = request.thinking
  if (!request.continuesFinalMessage || kind === 'off' || kind === 'default') return
  const text =
    'a final assistant turn cannot be continued while thinking is on; the conversation must end with a user message'
  throw fieldError(['messages', body.messages.length - 1], 'value', text)
}

/** JSON is written from its first character: what the client has begun would stand before a whole answer. */
function refusePrefilledJson(body: MessagesBody, { request }: DecodedPrompt): void {
  if (!request.continuesFinalMessage || request.output.kind !== 'json') return
  const text =
    'a final assistant turn cannot be continued with output_config.format; the conversation must end with a user message'
  throw fieldError(['messages', body.messages.length - 1], 'value', text)
}

export type DecodedThinking = {
  readonly choice: ThinkingChoice
  /** The answer carries the thinking only sealed in its signature. */
  readonly isOmitted: boolean
}

type Circumstances = {
  readonly effort: Effort | undefined
  /** Null where nothing will be generated. */
  readonly outputTokensMax: number | null
  readonly followsToolResult: boolean
}

export function decodeThinking(wire: WireThinkingChoice, circumstances: Circumstances): DecodedThinking {
  if (wire === undefined) return { choice: { kind: 'default' }, isOmitted: false }
  const isOmitted = wire.type !== 'disabled' && wire.display === 'omitted'
  return { choice: choose(wire, circumstances), isOmitted }
}

/** Without a `thinking` field the effort says nothing: agents send one with every request, the title of a session included. */
function choose(
  wire: NonNullable<WireThinkingChoice>,
  { effort, outputTokensMax, followsToolResult }: Circumstances,
): ThinkingChoice {
  const adaptive: ThinkingChoice = { kind: 'effort', effort: effort ?? 'high' }
  switch (wire.type) {
    case 'disabled':
      return { kind: 'off' }
    case 'adaptive':
      return adaptive
    case 'between_tools':
      return followsToolResult ? adaptive : { kind: 'off' }
    case 'enabled':
      return { kind: 'on', tokensMax: clampBudget(wire.budget_tokens, outputTokensMax) }
  }
}

/** Clients send budgets as large as the whole answer; one token at least stays for the text. */
function clampBudget(budget: number, outputTokensMax: number | null): number {
  return outputTokensMax === null ? budget : Math.max(1, Math.min(budget, outputTokensMax - 1))
}
