import type { ServerResponse, IncomingMessage } from 'node:http'
import type { ApiError } from '../../core/error.ts'

const brokenBody = 'broken-body'

/** A body may be found to be broken before anybody reads it: in one packet with its head. */
const failures = new WeakMap<IncomingMessage, ApiError>()

/** The rest of a request can never be read. Whoever reads it, or will, is told; it is the last one of its connection. */
export function breakBody(response: ServerResponse, failure: ApiError): void {
  response.shouldKeepAlive = false
  failures.set(response.req, failure)
  response.req.emit(brokenBody)
}

/** Null where nothing is wrong so far. */
export function failureOf(request: IncomingMessage): ApiError | null {
  return failures.get(request) ?? null
}

/** Calls when a body turns out to be broken. Returns the way to stop listening. */
export function whenBroken(request: IncomingMessage, onBroken: () => void): () => void {
  request.once(brokenBody, onBroken)
  return () => request.off(brokenBody, onBroken)
}
