import type { Format, FormatSettings } from '../format.ts'
import { createLimitHeaders, formatMoment } from '../limit-headers.ts'
import type { AnswerEncoder, CountProtocol, Protocol } from '../protocol.ts'
import { decodeCount, decodeGeneration, encodeCount, type RequestShape } from './decode/decode.ts'
import { countBodySchema, messagesBodySchema } from './decode/schema.ts'
import { encodeAnswer, type AnswerShape } from './encode/encode-answer.ts'
import { encodeStream, ping } from './encode/encode-stream.ts'
import { encodeError, encodeStreamError } from './error.ts'
import { createThinkingSignature, type ThinkingSignature } from './thinking-signature.ts'

const takesNoV1 = 'Base address for messages clients must not contain /v1.'
const forV1Libraries = 'Set baseURL to …/v1 for this library.'

/** Anthropic's messages. */
export const messagesFormat: Format = {
  name: 'messages',
  routes: [
    { path: '/v1/messages', endpoint: 'messages', use: 'generation', body: messagesBodySchema },
    { path: '/v1/messages/count_tokens', endpoint: 'count-tokens', use: 'count', body: countBodySchema },
  ],
  ownPaths: ['/v1/messages', '/v1/messages/'],
  keyHeader: {
    name: 'x-api-key',
    read: ({ 'x-api-key': key = '' }) => (typeof key === 'string' ? key : (key[0] ?? '')).trim() || null,
  },
  clientHeaderPrefixes: ['x-stainless-', 'anthropic-'],
  baseHint: 'messages clients the one without',
  wrongBaseHints: {
    '/v1/v1/messages': takesNoV1,
    '/v1/v1/messages/count_tokens': takesNoV1,
    '/messages': forV1Libraries,
    '/messages/count_tokens': forV1Libraries,
  },
  unsupported: { '/v1/messages/batches': 'Message batches are not offered; send the requests to POST /v1/messages.' },
  ...createLimitHeaders({
    nameOf: (part, kind) => `anthropic-ratelimit-${kind}-${part}`,
    formatReset: ({ fullInMs }, nowMs) => formatMoment(nowMs + fullInMs),
  }),
  open: ({ signatureKey }) => createMessagesProtocol({ signatureKey }),
  rehearsal: (model) => ({
    model,
    max_tokens: 100,
    stream: true,
    messages: [
      { role: 'user', content: 'The first words of the day.' },
      { role: 'assistant', content: 'Good morning.' },
      { role: 'user', content: [{ type: 'text', text: 'One two three four five six.' }] },
    ],
    tools: [{ name: 'look_up', input_schema: { type: 'object' } }],
  }),
}

export type MessagesProtocol = Protocol & { readonly count: CountProtocol }

export function createMessagesProtocol({ signatureKey }: Pick<FormatSettings, 'signatureKey'>): MessagesProtocol {
  const signature = createThinkingSignature(signatureKey)
  return {
    decode(body) {
      const { shape, ...decoded } = decodeGeneration(body, signature)
      return { ...decoded, encoder: createEncoder(shape, signature) }
    },
    decodeShaped: (body) => decodeGeneration(body, signature),
    createEncoder: (shape) => createEncoder(shape, signature),
    count: { decodeShaped: (body) => decodeCount(body, signature), encode: encodeCount },
    encodeError,
    encodeStreamError,
    ping,
  }
}

function createEncoder(requestShape: unknown, signature: ThinkingSignature): AnswerEncoder {
  const shape: AnswerShape = { ...(requestShape as RequestShape), signature }
  return {
    encodeStream: (events, meta) => encodeStream(events, meta, shape),
    encodeAnswer: (answers, meta) => encodeAnswer(answers, meta, shape),
  }
}
