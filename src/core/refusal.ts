import { ApiError, type ApiErrorCode } from './error.ts'
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
