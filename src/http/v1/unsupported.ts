import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../core/error.ts'
import { authenticate } from '../middleware/authenticate.ts'
import type { HttpParts } from '../parts.ts'
import { pathOf } from '../request-path.ts'

/** What the vendors offer and this service does not, with the way on. */
const unsupportedEndpoints: Readonly<Record<string, string>> = {
  '/v1/responses':
    'POST /v1/responses is not available yet. It is announced for a later release; use POST /v1/chat/completions.',
  '/v1/embeddings': 'Embeddings are not offered by this service; use a dedicated embedding provider.',
  '/v1/completions': 'Plain completions are not offered; use POST /v1/chat/completions.',
  '/v1/messages/batches': 'Message batches are not offered; send the requests to POST /v1/messages.',
  '/v1/files': 'Files are not offered; put their content into the request.',
}

const endInV1 = 'Base address for chat-completions clients must end in /v1.'
const withoutV1 = 'Base address for messages clients must not contain /v1.'

/** Where requests arrive when a client's base address is off, and how to put it right. */
const wrongBaseHints: Readonly<Record<string, string>> = {
  '/chat/completions': endInV1,
  '/models': endInV1,
  '/v1/v1/chat/completions': 'Remove one /v1 from the base address.',
  '/v1/v1/models': 'Remove one /v1 from the base address.',
  '/v1/v1/messages': withoutV1,
  '/v1/v1/messages/count_tokens': withoutV1,
  '/messages': 'Set baseURL to …/v1 for this library.',
  '/messages/count_tokens': 'Set baseURL to …/v1 for this library.',
}

const nothingHere =
  'There is nothing at this address. Chat-completions clients use the base address with /v1, messages clients the one without.'

/**
 * Refuses a path that is not served.
 *
 * A wrong base address is explained to anyone; below `/v1` the key is checked
 * first, so that a stranger learns nothing about what is there.
 */
export async function refusePath(parts: HttpParts, request: FastifyRequest): Promise<never> {
  const path = pathOf(request.url)
  const hint = wrongBaseHints[path]
  if (hint !== undefined) throw new ApiError({ code: 'unknown-url' }, hint)
  if (path.startsWith('/v1/')) await authenticate(parts.access, request, null)
  const endpoint = Object.keys(unsupportedEndpoints).find((known) => path === known || path.startsWith(`${known}/`))
  if (endpoint !== undefined)
    throw new ApiError({ code: 'unsupported-endpoint' }, unsupportedEndpoints[endpoint] ?? nothingHere)
  if (path.startsWith('/v1/chat/completions/') && path !== '/v1/chat/completions/') {
    throw new ApiError({ code: 'unsupported-endpoint' }, 'Completions are not stored, so there is none to ask for.')
  }
  throw new ApiError({ code: 'unknown-url' }, nothingHere)
}
