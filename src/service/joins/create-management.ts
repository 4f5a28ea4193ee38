import { readAnchorsInForce } from '../../accounts/audit/anchors.ts'
import { createEndUserHash } from '../../billing/attribution/attribute.ts'
import type { SignInSettings } from '../../accounts/sign-in/parts.ts'
import type { Config } from '../../config/schema.ts'
import type { ManagementParts } from '../../http/api/parts.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import type { Limits } from '../../limits/open-limits.ts'
import type { OperatorDoor } from '../../http/operator-door.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { WeightsSwaps } from '../../models/fleet/weights-swaps.ts'
import type { WeightsJobs } from '../../models/jobs/weights-jobs.ts'
import { readVersion } from '../read-version.ts'
import { describeQueues, describeWeights, openFleetControl, openPoolsControl } from '../status/describe-engines.ts'
import { describeSystem } from '../status/describe-system.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import type { Log } from '../../telemetry/log.ts'
import type { RemotePools } from '../../models/fleet/pools/remote-pools.ts'
import type { Installation } from './open-installation.ts'
import type { Site } from './make-setup-link.ts'
import { openMailer } from './open-alerts.ts'
import { openSingleSignOn } from './open-single-sign-on.ts'
import { anchorFileIn } from './audit-anchors.ts'

type Joined = {
  readonly config: Config
  readonly catalog: Catalog
  readonly pool: EnginePool
  readonly pools: RemotePools
  readonly swaps: WeightsSwaps
  readonly jobs: WeightsJobs
  readonly limits: Limits
  readonly operatorDoor: OperatorDoor
  readonly site: Site
  readonly feed: ChangeFeed
  readonly log: Log
}

/** What the management API of a running service stands on. */
export function createManagement({ accounts, secrets }: Installation, joined: Joined): ManagementParts {
  const { config, catalog, pool, pools, swaps, jobs, limits, operatorDoor, feed, log } = joined
  const startedAtMs = accounts.clock.nowMs()
  const anchors = anchorFileIn(config.home, secrets)
  return {
    accounts: {
      ...accounts,
      currency: config.billing.currency,
      limitsChanged: (change) => limits.apply(change),
    },
    storedAnswerKey: secrets.storedAnswerKey,
    recordingKey: config.recordings.enabled ? secrets.recordingKey : null,
    alertKey: secrets.alertKey,
    mail: config.alerts.mail,
    // The page that the link in a message leads to is one of the dashboard's.
    mailer: config.dashboard.enabled ? openMailer(config) : null,
    hashEndUser: createEndUserHash(secrets.endUserKey),
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readLimitStanding: (principal, model) => limits.readStanding(principal, model),
    readQueues: () => describeQueues(pool, pools),
    isOperator: (request) => operatorDoor.isOperator(request),
    weights: {
      list: () => describeWeights(catalog, pool),
      startSwap: (id, swap) => swaps.start(id, swap),
      findSwap: (id) => swaps.find(id),
    },
    readSystem: () => describeSystem({ config, db: accounts.db, startedAtMs }, accounts.clock.nowMs()),
    fleet: openFleetControl({ config, pool }),
    pools: openPoolsControl(pools, log),
    jobs,
    feed,
    signIn: signInSettings(config, secrets),
    sso: openSingleSignOn(config, () => joined.site.url),
    publicUrl: config.server.publicUrl,
    siteUrl: () => joined.site.url,
    arePricesPublic: config.billing.publicPrices,
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
