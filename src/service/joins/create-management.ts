import { readAnchorsInForce } from '../../accounts/audit/anchors.ts'
import type { SignInSettings } from '../../accounts/sign-in/parts.ts'
import type { Config } from '../../config/schema.ts'
import type { ManagementParts } from '../../http/api/parts.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import type { Limits } from '../../limits/open-limits.ts'
import type { OperatorDoor } from '../../http/operator-door.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { WeightsSwaps } from '../../models/fleet/weights-swaps.ts'
import { readVersion } from '../read-version.ts'
import { describeQueues, describeWeights } from '../status/describe-engines.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import type { Installation } from './open-installation.ts'
import type { Site } from './make-setup-link.ts'
import { anchorFileIn } from './audit-anchors.ts'

type Joined = {
  readonly config: Config
  readonly catalog: Catalog
  readonly pool: EnginePool
  readonly swaps: WeightsSwaps
  readonly limits: Limits
  readonly operatorDoor: OperatorDoor
  readonly site: Site
  readonly feed: ChangeFeed
}

/** What the management API of a running service stands on. */
export function createManagement({ accounts, secrets }: Installation, joined: Joined): ManagementParts {
  const { config, catalog, pool, swaps, limits, operatorDoor, feed } = joined
  const anchors = anchorFileIn(config.home, secrets)
  return {
    accounts: {
      ...accounts,
      currency: config.billing.currency,
      limitsChanged: (change) => limits.apply(change),
    },
    storedAnswerKey: secrets.storedAnswerKey,
    alertKey: secrets.alertKey,
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readLimitStanding: (principal, model) => limits.readStanding(principal, model),
    readQueues: () => describeQueues(pool),
    isOperator: (request) => operatorDoor.isOperator(request),
    weights: {
      list: () => describeWeights(catalog, pool),
      startSwap: (id, swap) => swaps.start(id, swap),
      findSwap: (id) => swaps.find(id),
    },
    feed,
    signIn: signInSettings(config, secrets),
    publicUrl: config.server.publicUrl,
    siteUrl: () => joined.site.url,
    version: readVersion(),
    readAnchors: () => readAnchorsInForce(accounts.db, anchors),
  }
}

/** How people sign in, as the config file says. */
export function signInSettings({ signIn }: Config, { signInKey }: Installation['secrets']): SignInSettings {
  return {
    passwords: signIn.passwords,
    idleMs: signIn.sessionIdleMinutes * 60_000,
    sessionMsMax: signIn.sessionHoursMax * 3_600_000,
    sessionsPerUserMax: signIn.sessionsPerUserMax,
    recentMs: signIn.recentMinutes * 60_000,
    sealKey: signInKey,
  }
}
