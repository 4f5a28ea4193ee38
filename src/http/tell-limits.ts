import type { FastifyReply } from 'fastify'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { HttpParts } from './parts.ts'

/** Puts on an answer's head how the key's limits stand at this moment; said again, the later word counts. */
export function tellLimits(
  { inference: { limiter, clock }, formats }: Pick<HttpParts, 'inference' | 'formats'>,
  reply: FastifyReply,
  { principal, model }: { readonly principal: ApiKeyPrincipal; readonly model: string | null },
): void {
  const snapshot = limiter.snapshot(principal, model)
  const nowMs = clock.nowMs()
  // One state, in the words of all formats: a client reads those that it knows.
  for (const format of formats) void reply.headers(format.limitHeaders(snapshot, nowMs))
}
