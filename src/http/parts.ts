import type { AccessCache } from '../accounts/access/access-cache.ts'
import type { Recorder } from '../accounts/recordings/recorder.ts'
import type { EndUserHash } from '../billing/attribution/attribute.ts'
import type { StatusHistory } from '../billing/availability/status-history.ts'
import type { Deliveries } from '../billing/deliveries/deliveries.ts'
import type { TokenCounter } from '../inference/count-tokens.ts'
import type { InferenceParts } from '../inference/generate.ts'
import type { OpenFormat } from '../protocols/format.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/trace.ts'
import type { ManagementParts } from './api/parts.ts'
import type { Bodies } from './bodies/bodies.ts'
import type { HttpBounds } from './bounds.ts'
import type { Dashboard } from './dashboard/dashboard.ts'
import type { RequestTracker } from './request-tracker.ts'

/** What the door is made of; `service/serve.ts` joins them. */
export type HttpParts = {
  readonly inference: InferenceParts
  readonly counter: TokenCounter
  /** Without it a charge for an answer that did not arrive stands, whoever repeats the request. */
  readonly deliveries?: Deliveries
  /** Without it nothing is kept of whom requests are for. */
  readonly hashEndUser?: EndUserHash
  /** Without it nothing is kept of what is said. */
  readonly recorder?: Recorder
  readonly access: AccessCache
  readonly bounds: HttpBounds
  /** Addresses and CIDR blocks whose word is taken for where a request came from. */
  readonly trustedProxies: readonly string[]
  /** Origins whose pages may use the models from a browser; `*` stands for all. */
  readonly corsOrigins: readonly string[]
  /** Whom clients are told to ask for higher limits. */
  readonly contact?: string | null
  readonly formats: readonly OpenFormat[]
  /** As the formats have it: a thread decodes large bodies with others of their kind. */
  readonly signatureKey: Uint8Array
  readonly tracker: RequestTracker
  readonly log: Log
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly management: ManagementParts
  /** How the models were, for everybody; absent where nobody keeps it. */
  readHistory?(): StatusHistory | null
  /** Absent where nothing but the API is served. */
  readonly dashboard?: Pick<Dashboard, 'answer' | 'build'>
}

/** What the routes are made of: the parts, and what the door makes itself. */
export type Door = HttpParts & { readonly bodies: Bodies }
