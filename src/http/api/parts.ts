import type { IncomingMessage } from 'node:http'
import type { Anchors } from '../../accounts/audit/anchors.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { MailRules } from '../../alerts/channel-target.ts'
import type { Mailer } from '../../alerts/mail.ts'
import type { EndUserHash } from '../../billing/attribution/attribute.ts'
import type { PriceParts } from '../../billing/prices/prices.ts'
import type { SignInSettings } from '../../accounts/sign-in/parts.ts'
import type { SingleSignOn } from '../../accounts/single-sign-on/parts.ts'
import type { LimitChangeParts } from '../../limits/settings/change-limits.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { LimitStanding } from '../../limits/limit-standing.ts'
import type { Amounts } from '../../limits/budgets/amounts.ts'
import type { LoadedWeights, Queue } from './engine-schemas.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'
import type { SwapProgress } from '../../models/fleet/weights-swaps.ts'
import type { ModelId } from '../../core/model.ts'
import type { Recommendation } from '../../models/jobs/recommended.ts'
import type { WeightsFile } from '../../models/jobs/weights-folder.ts'
import type { WeightsJobs } from '../../models/jobs/weights-jobs.ts'
import type { System } from './resources/installation/system-schema.ts'
import type { Fleet } from './resources/installation/fleet-schemas.ts'
import type { PoolStatus } from './resources/installation/pool-schemas.ts'

/** What is loaded, and the swapping of it. */
export type WeightsControl = {
  list(): LoadedWeights[]
  /** Swaps when those before it are done; what becomes of it is found under the id. */
  startSwap(id: string, swap: Swap): void
  findSwap(id: string): SwapProgress | null
}

/** The loaded files, and those that may be. */
export type FleetControl = {
  read(): Fleet
  files(): WeightsFile[]
  usersOf(file: WeightsFile): readonly ModelId[]
  deleteFile(file: WeightsFile): void
  recommend(): Recommendation[]
  /** Whether the config file names a model's weights, so that no choice made elsewhere counts. */
  isFixed(model: ModelId): boolean
}

/** The replicas elsewhere that answer for models. */
export type PoolsControl = {
  list(): PoolStatus[]
  /** Gives a replica nothing more, or requests again. */
  drain(pool: string, address: string, isDraining: boolean): void
  /**
   * Begins to replace the replicas that this service starts one after another, by what the config file has now. Loading
   * weights takes longer than anybody waits for: how it goes, the replicas show.
   */
  roll(pool: string): void
}

/** What the management API stands on. */
export type ManagementParts = {
  readonly accounts: AccountsParts & LimitChangeParts & PriceParts
  /** Encrypts answers that are kept for requests that are sent again, and cursors that would tell too much. */
  readonly storedAnswerKey: Uint8Array
  /** Encrypts what was said in requests; null where the installation lets nothing be kept. */
  readonly recordingKey: Uint8Array | null
  /** Encrypts where alerts go, and what signs them. */
  readonly alertKey: Uint8Array
  /** Whom alerts by e-mail may go to; null where no relay is set. */
  readonly mail: MailRules | null
  /** The operator's relay; null where none is set. */
  readonly mailer: Mailer | null
  /** By which end users are found whose names are kept as hashes. */
  readonly hashEndUser: EndUserHash
  /** What requests under way have reserved of a budget; null where nothing was asked of it yet. */
  reservedOf(budgetId: string): Amounts | null
  /** How the limits stand that apply to a key's requests for a model; null for requests of any. */
  readLimitStanding(principal: ApiKeyPrincipal, model: string | null): LimitStanding[]
  readQueues(): Queue[]
  /** Whether a request came from this machine's command line. */
  isOperator(request: IncomingMessage): boolean
  readonly weights: WeightsControl
  readonly fleet: FleetControl
  readonly pools: PoolsControl
  readSystem(): Promise<System>
  readonly jobs: Pick<WeightsJobs, 'list' | 'find' | 'nameOf' | 'startFetch' | 'startUse' | 'cancel'>
  readAnchors(): Promise<Anchors>
  readonly feed: Pick<ChangeFeed, 'subscribe'>
  readonly signIn: SignInSettings
  readonly sso: SingleSignOn
  /** Where browsers reach the service, as an origin; null where only this machine's do. */
  readonly publicUrl: string | null
  /** Where people sign in, as the beginning of addresses. */
  siteUrl(): string
  /** Whether prices are for everybody to read. */
  readonly arePricesPublic: boolean
  /** Tells a page that was loaded before an update that there is another one. */
  readonly version: string
}
