import { ApiError } from '../../../core/error.ts'
import { modelSampling, type GenerationRequest, type OutputFormat, type Sampling } from '../../../core/generation.ts'
import { parseBody } from '../../parse-body.ts'
import type { AnswerEncoder, Json, ShapedCount, ShapedRequest } from '../../protocol.ts'
import type { AnswerShape } from '../encode/answer-shape.ts'
import { applyCacheMarks } from './cache-marks.ts'
import { decodeConversation, hasToolResult } from './decode-messages.ts'
import { decodeThinking, type DecodedThinking } from './decode-thinking.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { encodeAnswer } from '../encode/encode-answer.ts'
import { encodeStream } from '../encode/encode-stream.ts'
import { fieldError, wordFault } from '../field-error.ts'
import { countBodySchema, messagesBodySchema, type CountBody, type MessagesBody } from './schema.ts'
import type { ThinkingSignature } from '../thinking-signature.ts'

/** What the request itself says. */
type RequestShape = Omit<AnswerShape, 'signature'>

type CountShape = { readonly isManaged: boolean }

export function decodeGeneration(body: unknown, signature: ThinkingSignature): ShapedRequest {
  const parsed = parseBody(messagesBodySchema, body, wordFault)
  refuseThread(parsed)
  refuseUnservable(parsed)
  const isStream = parsed.stream ?? false
  if (parsed.max_tokens === 0) checkPrewarm(parsed)
  const prompt = decodePrompt(parsed, parsed.max_tokens, signature)
  refuseThoughtfulPrefill(parsed, prompt)
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
  return { request, isStream, shape }
}

export function createEncoder(requestShape: unknown, signature: ThinkingSignature): AnswerEncoder {
  const shape: AnswerShape = { ...(requestShape as RequestShape), signature }
  return {
    encodeStream: (events, meta) => encodeStream(events, meta, shape),
    encodeAnswer: (answers, meta) => encodeAnswer(answers, meta, shape),
  }
}

/** A count is of the prompt alone: nothing that only matters to an answer is checked. */
export function decodeCount(body: unknown, signature: ThinkingSignature): ShapedCount {
  const parsed = parseBody(countBodySchema, body, wordFault)
  refuseThread(parsed)
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
  const { tools, messages } = applyCacheMarks(body, { tools: declared, messages: conversation.messages })
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
  return { ...modelSampling, temperature: body.temperature ?? null, topP: body.top_p ?? null, topK: body.top_k ?? null }
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
