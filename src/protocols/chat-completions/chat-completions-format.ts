import type { Format } from '../format.ts'
import { createChatCompletionsProtocol } from './decode/decode.ts'
import { limitHeaderNames, limitHeaders } from './limit-headers.ts'

const needsV1 = 'Base address for chat-completions clients must end in /v1.'

/** OpenAI's chat completions. */
export const chatCompletionsFormat: Format = {
  name: 'chat-completions',
  routes: [{ path: '/v1/chat/completions', endpoint: 'chat-completions', use: 'generation' }],
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
    '/v1/responses':
      'POST /v1/responses is not available yet. It is announced for a later release; use POST /v1/chat/completions.',
    '/v1/embeddings': 'Embeddings are not offered by this service; use a dedicated embedding provider.',
    '/v1/completions': 'Plain completions are not offered; use POST /v1/chat/completions.',
    '/v1/files': 'Files are not offered; put their content into the request.',
    '/v1/chat/completions': 'Completions are not stored, so there is none to ask for.',
  },
  limitHeaderNames,
  limitHeaders,
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
