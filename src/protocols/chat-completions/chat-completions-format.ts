import type { Format, FormatSettings } from '../format.ts'
import { createLimitHeaders, formatDuration } from '../limit-headers.ts'
import type { AnswerEncoder, Protocol, ShapedRequest } from '../protocol.ts'
import { encodeAnswer, type AnswerShape } from './encode/encode-answer.ts'
import { encodeStream } from './encode/encode-stream.ts'
import { encodeError, encodeStreamError, fieldError, wordFault } from './error.ts'
import { parseBody } from '../parse-body.ts'
import { decodeMessages } from './decode/decode-messages.ts'
import {
  decodeLogprobs,
  decodeOutput,
  decodeOutputLimits,
  decodeSampling,
  decodeStops,
  decodeThinking,
  hidesThinking,
} from './decode/decode-settings.ts'
import { decodeTools } from './decode/decode-tools.ts'
import { chatBodySchema, type ChatBody } from './decode/schema.ts'

const needsV1 = 'Base address for chat-completions clients must end in /v1.'

/** OpenAI's chat completions. */
export const chatCompletionsFormat: Format = {
  name: 'chat-completions',
  routes: [{ path: '/v1/chat/completions', endpoint: 'chat-completions', use: 'generation', body: chatBodySchema }],
  ownPaths: ['/v1/chat/'],
  keyHeader: {
    name: 'authorization',
    read: ({ authorization = '' }) => /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null,
  },
  clientHeaderPrefixes: ['x-stainless-', 'openai-'],
  baseHint: 'Chat-completions clients use the base address with /v1',
  wrongBaseHints: {
    '/chat/completions': needsV1,
    '/models': needsV1,
    '/v1/v1/chat/completions': 'Remove one /v1 from the base address.',
    '/v1/v1/models': 'Remove one /v1 from the base address.',
  },
  unsupported: {
    '/v1/responses': 'The responses format is not offered; use POST /v1/chat/completions.',
    '/v1/embeddings': 'Embeddings are not offered by this service; use a dedicated embedding provider.',
    '/v1/completions': 'Plain completions are not offered; use POST /v1/chat/completions.',
    '/v1/files': 'Files are not offered; put their content into the request.',
    '/v1/chat/completions': 'Completions are not stored, so there is none to ask for.',
  },
  ...createLimitHeaders({
    nameOf: (part, kind) => `x-ratelimit-${part}-${kind}`,
    formatReset: ({ fullInMs }) => formatDuration(fullInMs),
  }),
  open: ({ readFingerprint }) => createChatCompletionsProtocol({ readFingerprint }),
  rehearsal: (model) => ({
    model,
    max_tokens: 100,
    stream: true,
    messages: [
      { role: 'user', content: 'The first words of the day.' },
      { role: 'assistant', content: 'Good morning.' },
      { role: 'user', content: [{ type: 'text', text: 'One two three four five six.' }] },
    ],
    tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
  }),
}

export function createChatCompletionsProtocol({ readFingerprint }: Pick<FormatSettings, 'readFingerprint'>): Protocol {
  // A swap of weights changes the fingerprint, so each answer asks for it anew.
  const createEncoder = (shape: unknown) =>
    encoderOf({ ...(shape as RequestShape), systemFingerprint: readFingerprint() })
  return {
    decode(body) {
      const { shape, ...decoded } = decodeGeneration(body)
      return { ...decoded, encoder: createEncoder(shape) }
    },
    decodeShaped: decodeGeneration,
    createEncoder,
    count: null,
    encodeError,
    encodeStreamError,
    ping: null,
  }
}

function encoderOf(shape: AnswerShape): AnswerEncoder {
  return {
    encodeStream: (events, meta) => encodeStream(events, meta, shape),
    encodeAnswer: (answers, meta) => encodeAnswer(answers, meta, shape),
  }
}

/** What the request itself says about the form of its answer. */
export type RequestShape = Omit<AnswerShape, 'systemFingerprint'>

export function decodeGeneration(wireBody: unknown): ShapedRequest {
  const body = parseBody(chatBodySchema, wireBody, wordFault)
  refuseFields(body)
  const { tools, toolChoice, isLegacy } = decodeTools(body)
  const conversation = decodeMessages(body)
  const output = decodeOutput(body)
  // JSON is written from its first character: what the client has begun would stand before a whole answer.
  if (conversation.continuesFinalMessage && output.kind === 'json')
    throw fieldError(['messages', body.messages.length - 1], 'value', 'a message cannot be continued in JSON')
  const shape: RequestShape = {
    includesUsage: body.stream_options?.include_usage ?? body.usage?.include ?? false,
    hidesThinking: hidesThinking(body),
    textTools: new Set(tools.filter(({ input }) => input === 'text').map(({ name }) => name)),
    isLegacy,
  }
  return {
    request: {
      model: body.model,
      ...conversation,
      tools,
      toolChoice,
      thinking: decodeThinking(body),
      output,
      sampling: decodeSampling(body),
      ...decodeOutputLimits(body),
      stopSequences: decodeStops(body),
      includesStopSequence: body.include_stop_str_in_output ?? false,
      logprobsTop: decodeLogprobs(body),
      choiceCount: body.n ?? 1,
    },
    isStream: body.stream ?? false,
    shape,
    attribution: { endUser: body.safety_identifier ?? body.user ?? null, metadata: body.metadata ?? {} },
  }
}

/** Even an empty object asks for something here: a search with default settings, a policy that may block. */
const refusedWhenPresent: readonly string[] = ['web_search_options', 'moderation']

/**
 * Fields that change the shape of the answer, reach into the engine or constrain
 * the output in a way this service cannot keep. Their neutral values pass.
 */
const refusedWhenSet: readonly string[] = [
  'ignore_eos',
  'stop_token_ids',
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'echo',
  'documents',
  'mm_processor_kwargs',
  'truncate_prompt_tokens',
  'prompt_logprobs',
  'return_token_ids',
  'return_tokens_as_token_ids',
  'kv_transfer_params',
  'vllm_xargs',
  'logits_processors',
  'use_beam_search',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'structured_outputs',
  'grammar',
]

/** Refuses what would change the answer if it were silently ignored. */
export function refuseFields(body: ChatBody): void {
  for (const field of refusedWhenPresent) if ((body[field] ?? null) !== null) throw refusal(field)
  for (const field of refusedWhenSet) if (isSet(body[field])) throw refusal(field)
  // llama.cpp clients write -1 for "any slot".
  if (isSet(body['id_slot']) && body['id_slot'] !== -1) throw refusal('id_slot')
  refuseModalities(body.modalities ?? [])
}

function refuseModalities(modalities: readonly string[]): void {
  const index = modalities.findIndex((modality) => modality !== 'text')
  if (index === -1) return
  const fault = modalities[index] === 'audio' ? 'unsupported-value' : 'value'
  throw fieldError(['modalities', index], fault, 'expected "text"')
}

function refusal(field: string) {
  return fieldError([field], 'unsupported-field', 'this service does not offer it')
}

function isSet(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  return Object.keys(value).length > 0
}
