import type { AccountsParts } from '../../src/accounts/parts.ts'
import type { ManagementParts } from '../../src/http/api/parts.ts'
import type { Limits } from '../../src/limits/open-limits.ts'

/** What the management API of a service without engines stands on. */
export function createTestManagement(accounts: AccountsParts, limits: Limits): ManagementParts {
  return {
    accounts,
    storedAnswerKey: new Uint8Array(32).fill(5),
    limitsChanged: () => limits.look(),
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readQueues: () => [],
    readAnchors: () => ({ valid: [], damagedLines: [] }),
  }
}
