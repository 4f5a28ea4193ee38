import type { IncomingMessage } from 'node:http'
import type { Anchors } from '../../accounts/audit/anchors.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { PriceParts } from '../../billing/prices/prices.ts'
import type { SignInSettings } from '../../accounts/sign-in/parts.ts'
import type { LimitChangeParts } from '../../limits/settings/change-limits.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { LimitStanding } from '../../limits/limit-standing.ts'
import type { Amounts } from '../../limits/budgets/amounts.ts'
import type { LoadedWeights, Queue } from './engine-schemas.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'
import type { SwapProgress } from '../../models/fleet/weights-swaps.ts'

/** What is loaded, and the swapping of it. */
export type WeightsControl = {
  list(): LoadedWeights[]
  /** Swaps when those before it are done; what becomes of it is found under the id. */
  startSwap(id: string, swap: Swap): void
  findSwap(id: string): SwapProgress | null
}

/** What the management API stands on. */
export type ManagementParts = {
  readonly accounts: AccountsParts & LimitChangeParts & PriceParts
  /** Encrypts answers that are kept for requests that are sent again, and cursors that would tell too much. */
  readonly storedAnswerKey: Uint8Array
  /** Encrypts where alerts go, and what signs them. */
  readonly alertKey: Uint8Array
  /** What requests under way have reserved of a budget; null where nothing was asked of it yet. */
  reservedOf(budgetId: string): Amounts | null
  /** How the limits stand that apply to a key's requests for a model; null for requests of any. */
  readLimitStanding(principal: ApiKeyPrincipal, model: string | null): LimitStanding[]
  readQueues(): Queue[]
  /** Whether a request came from this machine's command line. */
  isOperator(request: IncomingMessage): boolean
  readonly weights: WeightsControl
  readAnchors(): Promise<Anchors>
  readonly feed: Pick<ChangeFeed, 'subscribe'>
  readonly signIn: SignInSettings
  /** Where browsers reach the service, as an origin; null where only this machine's do. */
  readonly publicUrl: string | null
  /** Where people sign in, as the beginning of addresses. */
  siteUrl(): string
  /** Tells a page that was loaded before an update that there is another one. */
  readonly version: string
}
