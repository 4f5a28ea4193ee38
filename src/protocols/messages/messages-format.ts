import type { Format } from '../format.ts'
import { limitHeaderNames, limitHeaders } from './limit-headers.ts'
import { createMessagesProtocol } from './messages-protocol.ts'

const takesNoV1 = 'Base address for messages clients must not contain /v1.'
const forV1Libraries = 'Set baseURL to …/v1 for this library.'

/** Anthropic's messages. */
export const messagesFormat: Format = {
  name: 'messages',
  routes: [
    { path: '/v1/messages', endpoint: 'messages', use: 'generation' },
    { path: '/v1/messages/count_tokens', endpoint: 'count-tokens', use: 'count' },
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
  limitHeaderNames,
  limitHeaders,
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
