import type { Attributed } from '../attribution/attribute.ts'
import type { CountSource, RoutingReason } from '../../core/engine.ts'
import type { CacheReport, Usage } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Charge } from '../prices/price.ts'

/** How a request came in. */
export type RequestOrigin = {
  /** The name of its format. */
  readonly protocol: string
  readonly isStream: boolean
  /** The id a client gave it in its own header. */
  readonly clientRequestId: string | null
  /** A keyed hash by which the same body sent again is recognised; null where it cannot be sent again. */
  readonly bodyHash: string | null
  /** Whom it is for; absent where that is not kept. */
  readonly attributed?: Attributed
}

export type LedgerEntry = {
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
  /** When the request ended: the hour and the day it counts in. */
  readonly atMs: number
  /** When it was admitted, which decided its price. */
  readonly admittedAtMs: number
  readonly model: string
  readonly outcome: 'finished' | 'aborted' | 'failed'
  /** Why a finished generation ended, or the error code of a failed one. */
  readonly reason: string | null
  readonly usage: Usage
  /** Null where the model had no price. */
  readonly charge: Charge | null
  readonly cache: CacheReport | null
  readonly firstEventMs: number | null
  readonly firstTokenMs: number | null
  readonly durationMs: number
  /** Which copy of a remote engine answered. */
  readonly replica?: string
  /** Why that copy was chosen. */
  readonly routing?: RoutingReason
  /** Whose word its counts are; absent where they are this service's own. */
  readonly countSource?: CountSource
  readonly origin?: RequestOrigin
}
