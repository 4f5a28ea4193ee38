import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ledger } from '../billing/ledger/ledger.ts'
import { canAnswer } from '../core/engine.ts'
import type { HttpParts } from './parts.ts'

const buildHeader = 'x-odyssey-build'

/** `GET /healthz`: the process is alive. Says nothing else, since it needs no key. */
export async function healthRoute(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await reply.type('application/json').send('{"status":"ok"}')
}

/** The parts that readiness is asked of. */
export type ReadinessParts = Pick<HttpParts, 'tracker' | 'dashboard'> & {
  readonly access: Pick<HttpParts['access'], 'isAvailable'>
  readonly inference: Pick<HttpParts['inference'], 'catalog' | 'ledger'>
}

/**
 * `GET /readyz`: every model can answer, keys can be checked and requests recorded.
 *
 * 503 while one of these cannot, in which case requests are refused, or the
 * service stops. It needs no key, so it names the part and no reason. A header names
 * the dashboard's build, by which a page that is open notices that another took its place.
 */
export function readinessRoute(parts: ReadinessParts) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const readiness = readReadiness(parts)
    const build = parts.dashboard?.build() ?? null
    if (build !== null) void reply.header(buildHeader, build)
    await reply
      .code(readiness.status === 'ready' ? 200 : 503)
      .type('application/json')
      .send(JSON.stringify(readiness))
  }
}

export type Readiness = {
  readonly status: 'ready' | 'not ready' | 'draining'
  /** By model, the state of its engine. */
  readonly models: Readonly<Record<string, string>>
  readonly keys: 'ready' | 'down'
  readonly ledger: 'ready' | 'down'
}

/** How the service is at this moment. Nothing of it needs the database. */
export function readReadiness({ inference, access, tracker }: ReadinessParts): Readiness {
  const models = inference.catalog.list().map(({ model, engine }) => [model.id, engine.status().state] as const)
  const keys = access.isAvailable() ? 'ready' : 'down'
  const ledger = isWritable(inference.ledger) ? 'ready' : 'down'
  const isLeaving = tracker.isLeaving()
  const partsReady = [keys === 'ready', ledger === 'ready', ...models.map(([, state]) => canAnswer(state))]
  const isReady = !isLeaving && partsReady.every(Boolean)
  const status = isLeaving ? 'draining' : isReady ? 'ready' : 'not ready'
  return { status, models: Object.fromEntries(models), keys, ledger }
}

function isWritable(ledger: Pick<Ledger, 'requireWritable'>): boolean {
  try {
    ledger.requireWritable()
    return true
  } catch {
    return false
  }
}
