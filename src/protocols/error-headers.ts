import type { ApiError } from '../core/error.ts'

/** The OpenAI client obeys no longer wait than this, and comes back at once instead: it is told not to. */
const obeyedSecondsMax = 60

/** The headers of an error, the same in every format: what is wrong with the request line, and whether to try again. */
export function errorHeaders(error: ApiError): Record<string, string> {
  const headers = retryHeaders(error)
  if (error.reason.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer'
  if (error.reason.code === 'method-not-allowed') headers['allow'] = error.reason.allowed.join(', ')
  return headers
}

/**
 * Tells clients whether to send the request again, and when.
 *
 * A failure that may pass without a known wait (a crash, a slow upload) is left
 * to the client's own habit, which is to retry.
 */
function retryHeaders(error: ApiError): Record<string, string> {
  switch (error.reason.code) {
    case 'rate-limited':
    case 'overloaded':
      return waitHeaders(error.reason.retryAfterMs)
    case 'request-timeout':
    case 'engine-failed':
    case 'internal':
      return {}
    default:
      return { 'x-should-retry': 'false' }
  }
}

/** The wait itself is told whatever its length. Where no wait helps there is none. */
function waitHeaders(waitMs: number): Record<string, string> {
  const milliseconds = Number.isNaN(waitMs) ? 1000 : Math.max(1, Math.ceil(waitMs))
  const seconds = Math.ceil(milliseconds / 1000)
  return {
    ...(Number.isFinite(seconds) && { 'retry-after': String(seconds) }),
    ...(milliseconds < 1000 && { 'retry-after-ms': String(milliseconds) }),
    'x-should-retry': String(seconds <= obeyedSecondsMax),
  }
}
