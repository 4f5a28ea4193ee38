import type { RequestOrigin } from '../billing/ledger/ledger-entry.ts'
import type { GenerationRequest } from '../core/generation.ts'
import type { RequestId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Entrance } from '../limits/limiter.ts'

/** A request to the path that leads to the ledger, and by whom it is made. */
export type Asked = {
  readonly request: GenerationRequest
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
  readonly origin?: RequestOrigin
  readonly traceparent?: string
  /** The places it has taken already, before its body was read. */
  readonly entrance?: Entrance
}
