import { ApiError, toApiError, type ApiErrorCode } from './error.ts'
import { RequestEnded } from './request-ended.ts'

/** Why a request was turned away: the code of the error that its client was told. */
export type RefusalClass = Exclude<ApiErrorCode, 'engine-failed' | 'internal'>

/**
 * The class of an error that turns a request away before anything was computed for it; null for a fault of the service,
 * and for a client that left by itself.
 */
export function refusalClassOf(error: unknown): RefusalClass | null {
  if (!(error instanceof ApiError)) return null
  if (error instanceof RequestEnded && error.endCause === 'client-left') return null
  const { code } = error
  return code === 'engine-failed' || code === 'internal' ? null : code
}

/** Whose failure an error is in the account of availability: the service's own, or that of whoever asked. */
const owners = {
  'invalid-request': 'caller',
  'unsupported-feature': 'caller',
  'unsupported-encoding': 'caller',
  'context-exceeded': 'caller',
  unauthenticated: 'caller',
  'permission-denied': 'caller',
  'not-found': 'caller',
  conflict: 'caller',
  'model-not-found': 'caller',
  'unsupported-endpoint': 'caller',
  'unknown-url': 'caller',
  'method-not-allowed': 'caller',
  'request-too-large': 'caller',
  'request-timeout': 'caller',
  'rate-limited': 'caller',
  'budget-exceeded': 'caller',
  overloaded: 'service',
  'engine-failed': 'service',
  internal: 'service',
} as const satisfies Record<ApiErrorCode, 'caller' | 'service'>

/** The codes of failures that are the service's own. */
export type ServiceFault = {
  [Code in ApiErrorCode]: (typeof owners)[Code] extends 'service' ? Code : never
}[ApiErrorCode]

/** The codes of failures that never count against the service. */
export const callerFaults: readonly ApiErrorCode[] = Object.entries(owners)
  .filter(([, owner]) => owner === 'caller')
  .map(([code]) => code as ApiErrorCode)

/**
 * How a request went in the account of availability. All but `good` are bad: it failed by the service's fault, its first
 * token came later than was agreed, or it was turned away by the service's fault and has no row in the ledger.
 */
export const verdicts = ['good', 'failed', 'slow', 'unserved'] as const
export type Verdict = (typeof verdicts)[number]

export type Judged = {
  readonly outcome: 'finished' | 'aborted' | 'failed'
  /** The error code of a failure. */
  readonly reason: string | null
  readonly firstTokenMs: number | null
  readonly durationMs: number
}

/**
 * Judges a request that has a row in the ledger, as the minutes of availability do; null where its caller has caused its
 * failure, so that it does not count. Who leaves without a token after the agreed time has waited in vain as much as who
 * gets it late.
 */
export function judgeRequest(
  { outcome, reason, firstTokenMs, durationMs }: Judged,
  agreedFirstTokenMs: number | null,
): Verdict | null {
  if (outcome === 'failed') return callerFaults.some((code) => code === reason) ? null : 'failed'
  return agreedFirstTokenMs !== null && (firstTokenMs ?? durationMs) > agreedFirstTokenMs ? 'slow' : 'good'
}

/** The failure of the service's own that an error is; null for everything that its caller, or who rules over it, has caused. */
export function serviceFaultOf(error: unknown): ServiceFault | null {
  if (error instanceof RequestEnded && error.endCause !== 'service-stopping') return null
  const { code } = error instanceof ApiError ? error : toApiError(error)
  return owners[code] === 'service' ? (code as ServiceFault) : null
}
