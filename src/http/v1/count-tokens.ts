import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestId } from '../../core/ids.ts'
import { countTokens } from '../../inference/generate.ts'
import { authenticate } from '../middleware/authenticate.ts'
import { readJson } from '../middleware/read-json.ts'
import type { HttpParts } from '../parts.ts'

/** `POST /v1/messages/count_tokens`: the exact length of the prompt that the same request would have. */
export function countTokensRoute(parts: HttpParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const principal = await authenticate(parts.apiKeys, request.headers)
    const tracked = parts.tracker.begin()
    try {
      const { request: counted, encode } = parts.messages.decodeCount(
        await readJson(request.raw, parts.inference.clock),
      )
      const asked = { request: counted, requestId: request.id as RequestId, principal }
      const inputTokens = await countTokens(parts.inference, asked, tracked.signal)
      await reply.type('application/json').send(JSON.stringify(encode(inputTokens)))
    } finally {
      tracked.end()
    }
  }
}
