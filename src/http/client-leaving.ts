import type { ServerResponse } from 'node:http'
import { ApiError, toApiError } from '../core/error.ts'
import { GenerationAborted } from '../core/generation.ts'
import { whenClientEndsSending } from './connections/half-closed.ts'

/** Calls when the client is gone before it has its whole answer; with a reason where it may yet be there to hear it. */
export function whenClientLeaves(response: ServerResponse, onLeave: (reason?: ApiError) => void): void {
  // It may have left while its body was decoded elsewhere, and no event will tell of that any more.
  if (response.closed || response.destroyed) return onLeave()
  response.once('close', () => {
    if (!response.writableFinished) onLeave()
  })
  whenClientEndsSending(response, onLeave)
}

/** An aborted generation says only that it was aborted; a stopping service gave its reason to the signal. */
export function causeOfEnd(thrown: unknown, signal: AbortSignal): ApiError {
  if (thrown instanceof GenerationAborted && signal.reason instanceof ApiError) return signal.reason
  if (thrown instanceof GenerationAborted) return new ApiError({ code: 'request-timeout' }, 'The client has left.')
  return toApiError(thrown)
}
