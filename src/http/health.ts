import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpParts } from './parts.ts'

/** `GET /healthz`: the process is alive. Says nothing else, since it needs no key. */
export async function healthRoute(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await reply.type('application/json').send('{"status":"ok"}')
}

/** `GET /readyz`: every model can answer; 503 while one loads or the service stops. */
export function readinessRoute({ inference, tracker }: HttpParts) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const models = inference.catalog.list().map(({ model, engine }) => [model.id, engine.status().state] as const)
    const isReady = !tracker.isDraining() && models.every(([, state]) => state === 'ready')
    const status = tracker.isDraining() ? 'draining' : isReady ? 'ready' : 'not ready'
    await reply
      .code(isReady ? 200 : 503)
      .type('application/json')
      .send(JSON.stringify({ status, models: Object.fromEntries(models) }))
  }
}
