import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpParts } from '../parts.ts'

/** One line per answered request. The path is cut before the query: clients put keys there by mistake. */
export function logAccess({ log, inference }: HttpParts, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = inference.clock.monotonicMs()
  const path = request.url.split('?', 1)[0]?.slice(0, 200)
  reply.raw.once('close', () => {
    const hasLeft = !reply.raw.writableFinished
    log.info(
      {
        request_id: request.id,
        method: request.method,
        path,
        // 499, as proxies log it: the client closed the connection before the answer was out.
        status: hasLeft ? 499 : reply.raw.statusCode,
        duration_ms: Math.round(inference.clock.monotonicMs() - startedMs),
      },
      'request',
    )
  })
}
