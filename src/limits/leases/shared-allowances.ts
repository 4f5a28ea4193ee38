import { randomId } from '../../lib/random-id.ts'
import type { BookParts } from '../limit-book.ts'
import { removeOldCounters } from './exchange-lease.ts'
import { Contact } from './contact.ts'
import { LeasedAllowance, type LeasedParts } from './leased-allowance.ts'

export type SharedAllowances = Pick<BookParts, 'openAllowance' | 'openFund'> & { removeOld(): Promise<void> }

/** Allowances that all gateways on one database share. */
export function createSharedAllowances(parts: Omit<LeasedParts, 'gatewayId' | 'contact'>): SharedAllowances {
  const withId = { ...parts, gatewayId: `gateway_${randomId()}`, contact: new Contact(parts.clock) }
  return {
    removeOld: () => removeOldCounters(parts),
    openAllowance: (kind, { id, limit }) =>
      new LeasedAllowance({ id, limit, kind: kind === 'concurrency' ? 'fund' : 'bucket', readSpent: null }, withId),
    openFund: ({ id, limit, readSpent }) => new LeasedAllowance({ id, limit, kind: 'fund', readSpent }, withId),
  }
}
