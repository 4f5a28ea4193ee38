import { randomId } from '../../lib/random-id.ts'
import type { BookParts } from '../limit-entry.ts'
import { removeOldCounters } from './exchange-lease.ts'
import { Contact } from './contact.ts'
import { LeasedAllowance, type LeasedParts } from './leased-allowance.ts'

export type SharedAllowances = Pick<BookParts, 'openAllowance' | 'openBudgetAllowance'> & { removeOld(): Promise<void> }

/** Allowances that all gateways on one database share. */
export function createSharedAllowances(parts: Omit<LeasedParts, 'gatewayId' | 'contact'>): SharedAllowances {
  const withId = { ...parts, gatewayId: `gateway_${randomId()}`, contact: new Contact(parts.clock) }
  return {
    removeOld: () => removeOldCounters(parts),
    openAllowance: (kind, { id, limit }) =>
      new LeasedAllowance(
        { id, limit, kind: kind === 'concurrency' ? 'fixed' : 'bucket', period: null, readSpent: null },
        withId,
      ),
    openBudgetAllowance: ({ id, limit, period, readSpent }) =>
      new LeasedAllowance({ id, limit, kind: 'fixed', period, readSpent: () => readSpent([]) }, withId),
  }
}
