import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestId } from '../../core/ids.ts'
import { countTokens } from '../../inference/generate.ts'
import { admit } from '../admit.ts'
import { causeOfEnd, whenClientLeaves } from '../client-leaving.ts'
import { requireModel } from '../middleware/authenticate.ts'
import type { Door } from '../parts.ts'
import { tellLimits } from '../tell-limits.ts'

/** `POST /v1/messages/count_tokens`: the exact length of the prompt that the same request would have. */
export function countTokensRoute(parts: Door) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const admitted = await admit(parts, request, 'count-tokens')
    const { principal } = admitted.access
    let model: string | null = null
    try {
      const { shaped } = await admitted.decodeBody('count')
      const { request: counted, encode } = parts.messages.createCount(shaped)
      model = counted.model
      requireModel(admitted.access, model)
      const asked = { request: counted, requestId: request.id as RequestId, principal }
      const { signal } = admitted
      whenClientLeaves(reply.raw, admitted.abort)
      const inputTokens = await countTokens(parts.inference, asked, signal).catch((thrown: unknown) => {
        throw causeOfEnd(thrown, signal)
      })
      tellLimits(parts, reply, { principal, model })
      await reply.type('application/json').send(JSON.stringify(encode(inputTokens)))
    } catch (error) {
      tellLimits(parts, reply, { principal, model })
      throw error
    } finally {
      admitted.end()
    }
  }
}
