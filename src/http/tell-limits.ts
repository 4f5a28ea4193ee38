import type { FastifyReply } from 'fastify'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import { limitHeaders } from '../protocols/limit-headers.ts'
import type { HttpParts } from './parts.ts'

/** Puts on an answer's head how the key's limits stand at this moment; said again, the later word counts. */
export function tellLimits(
  { inference: { limiter, clock } }: HttpParts,
  reply: FastifyReply,
  { principal, model }: { readonly principal: ApiKeyPrincipal; readonly model: string | null },
): void {
  void reply.headers(limitHeaders(limiter.snapshot(principal, model), clock.nowMs()))
}
