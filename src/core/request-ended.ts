import { ApiError, type ApiErrorReason } from './error.ts'

/** Why a request was ended before its answer was out. Each stands in the ledger, the log and the metrics. */
export type EndCause = 'client-left' | 'key-ended' | 'organization-disabled' | 'project-archived' | 'service-stopping'

/** What the signal of a request fires with: why it ends, and what a client that still listens is told. */
export class RequestEnded extends ApiError {
  readonly endCause: EndCause

  constructor(endCause: EndCause, reason: ApiErrorReason, message: string) {
    super(reason, message)
    this.endCause = endCause
  }
}

/** Why a request ended whose signal may have fired; where it has not, nobody but its reader can have ended it. */
export function endCauseOf({ reason }: AbortSignal): EndCause {
  return reason instanceof RequestEnded ? reason.endCause : 'client-left'
}
