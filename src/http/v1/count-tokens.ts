import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestId } from '../../core/ids.ts'
import { countTokens } from '../../inference/generate.ts'
import type { FormatRoute, OpenFormat } from '../../protocols/format.ts'
import { admit } from '../admit.ts'
import { causeOfEnd, whenClientLeaves } from '../client-leaving.ts'
import { requireModel } from '../middleware/authenticate.ts'
import type { Door } from '../parts.ts'
import { tellLimits } from '../tell-limits.ts'

/** The exact length of the prompt that the same request would have. */
export function countTokensRoute(parts: Door, { name: format, protocol }: OpenFormat, { endpoint }: FormatRoute) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const admitted = await admit(parts, request, endpoint)
    const { principal } = admitted.access
    let model: string | null = null
    try {
      const { shaped } = await admitted.decodeBody({ format, use: 'count' })
      const { request: counted, shape } = shaped
      model = counted.model
      requireModel(admitted.access, model)
      const asked = { request: counted, requestId: request.id as RequestId, principal }
      const { signal } = admitted
      whenClientLeaves(reply.raw, admitted.abort)
      const inputTokens = await countTokens(parts.inference, asked, signal).catch((thrown: unknown) => {
        throw causeOfEnd(thrown, signal)
      })
      tellLimits(parts, reply, { principal, model })
      await reply.type('application/json').send(JSON.stringify(protocol.count?.encode(inputTokens, shape)))
    } catch (error) {
      tellLimits(parts, reply, { principal, model })
      throw error
    } finally {
      admitted.end()
    }
  }
}
