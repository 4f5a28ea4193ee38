import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpParts } from '../parts.ts'

/** One line per answered request. The path is cut before the query: clients put keys there by mistake. */
export function logAccess({ log, metrics, inference }: HttpParts, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = inference.clock.monotonicMs()
  const path = request.url.split('?', 1)[0]?.slice(0, 200)
  reply.raw.once('close', () => {
    const { method } = request
    // 499, as proxies log it: the client closed the connection before the answer was out.
    const status = reply.raw.writableFinished ? reply.raw.statusCode : 499
    const durationMs = Math.round(inference.clock.monotonicMs() - startedMs)
    metrics.answered({ route: request.routeOptions.url ?? 'other', method, status, durationMs })
    log.info({ request_id: request.id, method, path, status, duration_ms: durationMs }, 'request')
  })
}
