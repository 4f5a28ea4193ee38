import type { FastifyRequest } from 'fastify'
import type { EndReason } from '../accounts/access/running-keys.ts'
import type { KeyAccess } from '../accounts/access/key-access.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { ApiError, type RefusedKey } from '../core/error.ts'
import { authenticate } from './middleware/authenticate.ts'
import type { HttpParts } from './parts.ts'

/** A request that is let in, until it ends. */
export type Admitted = {
  readonly access: KeyAccess
  /**
   * Fires when the service stops or the key may no longer be used, and its reason is an ApiError; or when it is aborted.
   * It is the only one the request has: signals made of others are looked through with every event.
   */
  readonly signal: AbortSignal
  abort(): void
  end(): void
}

/** Checks a request's key and counts it among those under way, before any of its body is read. */
export async function admit(parts: HttpParts, request: FastifyRequest, endpoint: Endpoint): Promise<Admitted> {
  const { access, shown } = await authenticate(parts.access, request, endpoint)
  const tracked = parts.tracker.begin()
  const unwatch = parts.access.watch(access, (reason) => tracked.abort(wordEnd(reason, shown)))
  return {
    access,
    signal: tracked.signal,
    abort: () => tracked.abort(),
    end() {
      unwatch()
      tracked.end()
    },
  }
}

function wordEnd(reason: EndReason, key: RefusedKey): ApiError {
  if (reason === 'key-ended') return new ApiError({ code: 'unauthenticated', key }, 'The API key is no longer valid.')
  const closed = reason === 'organization-disabled' ? 'organization' : 'project'
  return new ApiError({ code: 'permission-denied' }, `The ${closed} of this API key was closed.`)
}
