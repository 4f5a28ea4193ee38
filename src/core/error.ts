import type { Feature } from './feature.ts'
import type { ExceededLimit } from './limit.ts'

/** The place of a fault in the request body; each wire format writes it in its own notation. */
export type ErrorPath = readonly (string | number)[]

/** A key that is not valid, shown in part, and the header it came in. */
export type RefusedKey = { readonly masked: string; readonly header: 'authorization' | 'x-api-key' }

/** The ways in which a field is wrong, for the formats that tell these apart. */
export type FieldFault = 'missing' | 'type' | 'value' | 'unsupported-field' | 'unsupported-value'

/**
 * Every failure a caller may see.
 *
 * A wire format maps each to a status and a body. `retryAfterMs` is a hint, null where none is known.
 */
export type ApiErrorReason =
  | {
      readonly code: 'invalid-request'
      readonly path: ErrorPath | null
      readonly fault: FieldFault | null
      readonly detail?: ErrorDetail
    }
  | { readonly code: 'unsupported-feature'; readonly feature: Feature; readonly path: ErrorPath | null }
  | { readonly code: 'unsupported-encoding' }
  | { readonly code: 'context-exceeded'; readonly inputTokens: number; readonly windowTokens: number }
  | { readonly code: 'unauthenticated'; readonly key: RefusedKey | null }
  /** `proof` would do: to show anew who one is. */
  | { readonly code: 'permission-denied'; readonly needs?: 'proof' }
  /** What was asked for by its id is not there, or belongs to somebody else. */
  | { readonly code: 'not-found' }
  /** What was asked for does not go together with what is there. */
  | { readonly code: 'conflict' }
  | { readonly code: 'model-not-found'; readonly model: string; readonly available: readonly string[] }
  | { readonly code: 'unsupported-endpoint' | 'unknown-url' }
  | { readonly code: 'method-not-allowed'; readonly allowed: readonly string[] }
  | { readonly code: 'request-too-large'; readonly bytesMax: number; readonly isUnpacked: boolean }
  | { readonly code: 'request-timeout' }
  | {
      readonly code: 'rate-limited'
      readonly retryAfterMs: number
      readonly exceeded?: ExceededLimit
      /** Whom to ask for more, in the operator's words. */
      readonly contact?: string
    }
  /** A hard stop: waiting for the next period is all that helps. */
  | { readonly code: 'budget-exceeded'; readonly contact?: string }
  | { readonly code: 'overloaded'; readonly retryAfterMs: number }
  | { readonly code: 'engine-failed' }
  | { readonly code: 'internal' }

export type ApiErrorCode = ApiErrorReason['code']

/** Sub-codes that clients act upon; a format that has no place for one leaves it out. */
export type ErrorDetail = 'thread-unsupported' | 'tool-name-conflict' | 'invalid-json'

/**
 * A failure the caller may read and act upon.
 *
 * `message` may reach the caller, `cause` never leaves the process. Any other
 * error that reaches the door is a bug and answers as `internal`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: ApiErrorReason

  constructor(reason: ApiErrorReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }

  get code(): ApiErrorCode {
    return this.reason.code
  }
}

/** The same error with whom to ask for more, where more would have helped. */
export function tellContact(error: ApiError, contact: string | null): ApiError {
  const { reason, message, cause } = error
  if (contact === null || (reason.code !== 'rate-limited' && reason.code !== 'budget-exceeded')) return error
  return new ApiError({ ...reason, contact }, message, { cause })
}

/** The sentence that ends the message of such an error in every format. */
export function wordContact(reason: ApiErrorReason): string {
  return 'contact' in reason && reason.contact !== undefined ? ` For higher limits ask ${reason.contact}.` : ''
}

export function invalidRequest(path: ErrorPath | null, fault: FieldFault | null, message: string): ApiError {
  return new ApiError({ code: 'invalid-request', path, fault }, message)
}

/** Refuses what does not go with how things stand now. */
export function conflict(message: string, options?: { readonly cause?: unknown }): ApiError {
  return new ApiError({ code: 'conflict' }, message, options)
}

/** Refuses a prompt that does not fit the window; both numbers are told to the client. */
export function contextExceeded(inputTokens: number, windowTokens: number): ApiError {
  const reason = { code: 'context-exceeded', inputTokens, windowTokens } as const
  return new ApiError(reason, 'The prompt exceeds the context window.')
}

/** Turns anything thrown into what a caller may see; a bug keeps its story in `cause`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError({ code: 'internal' }, 'The server had an internal error.', { cause: error })
}
