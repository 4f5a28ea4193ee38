import { readAnchors } from '../../accounts/audit/anchors.ts'
import type { Config } from '../../config/schema.ts'
import type { ManagementParts } from '../../http/api/parts.ts'
import type { Limits } from '../../limits/open-limits.ts'
import { describeQueues } from '../status/describe-queues.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import type { Accounts } from './open-accounts.ts'
import { anchorFileIn } from './audit-anchors.ts'

type Joined = { readonly config: Config; readonly pool: EnginePool; readonly limits: Limits }

/** What the management API of a running service stands on. */
export function createManagement({ apiKeys, secrets }: Accounts, { config, pool, limits }: Joined): ManagementParts {
  const anchors = anchorFileIn(config.home, secrets)
  return {
    accounts: apiKeys,
    storedAnswerKey: secrets.storedAnswerKey,
    limitsChanged: () => limits.look(),
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readQueues: () => describeQueues(pool),
    readAnchors: () => readAnchors(anchors),
  }
}
