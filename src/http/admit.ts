import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyAccess } from '../accounts/access/key-access.ts'
import type { EndReason } from '../accounts/access/running-keys.ts'
import { ApiError, toApiError, type RefusedKey } from '../core/error.ts'
import { GenerationAborted } from '../core/generation.ts'
import type { LimitSnapshot } from '../core/limit.ts'
import { type ModelId, modelIds } from '../core/model.ts'
import { RequestEnded } from '../core/request-ended.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { OpenBody } from './bodies/bodies.ts'
import type { BodyKind, Decodings } from './bodies/decode-body.ts'
import type { Decoded } from './bodies/decode-thread.ts'
import { whenClientEndsSending } from './connections/connection-events.ts'
import { KeyNotAllowed, mayUse, type Authenticated } from './middleware/authenticate.ts'
import type { Door, HttpParts } from './parts.ts'

/** A request that is let in, until it ends. */
export type Admitted = {
  readonly access: KeyAccess
  /**
   * Fires with a RequestEnded, when the client leaves, the service stops or the key may no longer be used.
   * It is the only one the request has: signals made of others are looked through with every event.
   */
  readonly signal: AbortSignal
  /**
   * Reads the body, which counts among those in memory until `end`, and gives what came back as well where it has no more
   * bytes than `bytesKeptMax`.
   */
  decodeBody<Use extends keyof Decodings>(
    kind: BodyKind<Use>,
    bytesKeptMax?: number | null,
  ): Promise<Decoded<Use> & { readonly received: Uint8Array | null }>
  abort(reason: RequestEnded): void
  end(): void
}

/** Finds out under whose key a request counts, and that it may be used for this endpoint. */
export type Authenticate = (parts: Door, request: FastifyRequest, endpoint: string) => Promise<Authenticated>

/** Checks a request's key and counts it among those under way, before any of its body is read. */
export async function admit(
  parts: Door,
  request: FastifyRequest,
  { endpoint, authenticate }: { readonly endpoint: string; readonly authenticate: Authenticate },
): Promise<Admitted> {
  const { access, shown } = await authenticate(parts, request, endpoint).catch((error: unknown) => {
    parts.inference.refusals.count(error instanceof KeyNotAllowed ? error.organizationId : null, error)
    throw error
  })
  const tracked = parts.tracker.begin()
  const unwatch = parts.access.watch(access, (reason) => tracked.abort(wordEnd(reason, shown)))
  let body: OpenBody | null = null
  return {
    access,
    signal: tracked.signal,
    decodeBody(kind, bytesKeptMax = null) {
      body = parts.bodies.open(request.raw, access.principal.apiKeyId)
      return body.decode(kind, tracked.signal, bytesKeptMax)
    },
    abort: (reason) => tracked.abort(reason),
    end() {
      body?.release()
      unwatch()
      tracked.end()
    },
  }
}

function wordEnd(reason: EndReason, key: RefusedKey): RequestEnded {
  if (reason === 'key-ended') {
    return new RequestEnded(reason, { code: 'unauthenticated', key }, 'The API key is no longer valid.')
  }
  const closed = reason === 'organization-disabled' ? 'organization' : 'project'
  return new RequestEnded(reason, { code: 'permission-denied' }, `The ${closed} of this API key was closed.`)
}

/** Calls when the client is gone before it has its whole answer; one that ended only its own side may yet hear why. */
export function whenClientLeaves(response: ServerResponse, onLeave: (reason: RequestEnded) => void): void {
  const leave = () => onLeave(new RequestEnded('client-left', { code: 'request-timeout' }, 'The client has left.'))
  // It may have left while its body was decoded elsewhere, and no event will tell of that any more.
  if (response.closed || response.destroyed) return leave()
  response.once('close', () => {
    if (!response.writableFinished) leave()
  })
  whenClientEndsSending(response, ({ reason, message }) => onLeave(new RequestEnded('client-left', reason, message)))
}

/** An aborted generation says only that it was aborted; whoever ended the request gave the reason to its signal. */
export function causeOfEnd(thrown: unknown, signal: AbortSignal): ApiError {
  if (thrown instanceof GenerationAborted && signal.reason instanceof ApiError) return signal.reason
  return toApiError(thrown)
}

/** The models that a request may be for: the one that it names, and where it is refused before it names any, all of its key's. */
export function modelsAsked(access: KeyAccess, model: string | null): readonly ModelId[] {
  const known = modelIds.find((id) => id === model)
  return known === undefined ? modelIds.filter((id) => mayUse(access, id)) : [known]
}

type Told = { readonly principal: ApiKeyPrincipal; readonly models: readonly string[] }
type LimitTellers = Pick<HttpParts, 'inference' | 'formats' | 'counter'>

/** Puts on an answer's head how the key's limits stand at this moment; said again, the later word counts. */
export function tellLimits(parts: LimitTellers, reply: FastifyReply, { principal, models }: Told): void {
  tell(parts, reply, parts.inference.limiter.snapshot(principal, models))
}

/** The same of a count, whose requests have a limit of their own. */
export function tellCountLimits(parts: LimitTellers, reply: FastifyReply, { principal, models }: Told): void {
  const snapshot = parts.inference.limiter.snapshot(principal, models)
  tell(parts, reply, { ...snapshot, requests: parts.counter.stateOf(principal) })
}

function tell({ inference: { clock }, formats }: LimitTellers, reply: FastifyReply, snapshot: LimitSnapshot): void {
  const nowMs = clock.nowMs()
  // One state, in the words of all formats: a client reads those that it knows.
  for (const format of formats) void reply.headers(format.limitHeaders(snapshot, nowMs))
}
