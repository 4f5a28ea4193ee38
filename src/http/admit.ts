import type { FastifyRequest } from 'fastify'
import type { EndReason } from '../accounts/access/running-keys.ts'
import type { KeyAccess } from '../accounts/access/key-access.ts'
import { ApiError, type RefusedKey } from '../core/error.ts'
import type { OpenBody } from './bodies/bodies.ts'
import type { BodyKind, Decodings } from './bodies/decode-body.ts'
import type { Decoded } from './bodies/decode-thread.ts'
import { authenticate } from './middleware/authenticate.ts'
import type { Door } from './parts.ts'

/** A request that is let in, until it ends. */
export type Admitted = {
  readonly access: KeyAccess
  /**
   * Fires when the service stops or the key may no longer be used, and its reason is an ApiError; or when it is aborted.
   * It is the only one the request has: signals made of others are looked through with every event.
   */
  readonly signal: AbortSignal
  /** Reads the body, which counts among those in memory until `end`. */
  decodeBody<Use extends keyof Decodings>(kind: BodyKind<Use>): Promise<Decoded<Use>>
  abort(reason?: ApiError): void
  end(): void
}

/** Checks a request's key and counts it among those under way, before any of its body is read. */
export async function admit(parts: Door, request: FastifyRequest, endpoint: string): Promise<Admitted> {
  const { access, shown } = await authenticate(parts, request, endpoint)
  const tracked = parts.tracker.begin()
  const unwatch = parts.access.watch(access, (reason) => tracked.abort(wordEnd(reason, shown)))
  let body: OpenBody | null = null
  return {
    access,
    signal: tracked.signal,
    decodeBody(kind) {
      body = parts.bodies.open(request.raw, access.principal.apiKeyId)
      return body.decode(kind, tracked.signal)
    },
    abort: (reason) => tracked.abort(reason),
    end() {
      body?.release()
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
