import type { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { createBucketAllowance } from './allowances/bucket-allowance.ts'
import { createFundAllowance } from './allowances/fund-allowance.ts'
import type { Amounts, ReadSpent } from './budgets/budget-account.ts'
import { createAlert } from './budgets/record-alert.ts'
import type { SharedAllowances } from './leases/shared-allowances.ts'
import { LimitBook, type BookParts } from './limit-book.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { watchSettings } from './settings/watch-settings.ts'

export type LimitsParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  /** What was spent before this process began, by the ledger. */
  readonly readSpent: ReadSpent
  readonly requestsPerKeyMax: number | null
  /** Where allowances are kept that several gateways share; absent, they are kept in memory. */
  readonly shared?: SharedAllowances
}

export type Limits = Limiter & {
  /** Puts changed settings into force at once instead of within a second. */
  look(): Promise<void>
  /** What this gateway's requests have reserved of a budget; null for one that is not in force. */
  reservedOf(budgetId: string): Amounts | null
  close(): Promise<void>
}

/** Opens the limits and budgets in the database and keeps to their changes. */
export async function openLimits(parts: LimitsParts): Promise<Limits> {
  const { db, clock, log, readSpent, requestsPerKeyMax, shared } = parts
  await shared?.removeOld()
  const book = new LimitBook({ clock, readSpent, alert: createAlert(parts), ...(shared ?? inMemory(clock)) })
  const close = (old: readonly { close(): Promise<void> }[]) => Promise.all(old.map((allowance) => allowance.close()))
  const onError = (error: unknown) => log.error({ error }, 'the limits cannot be read or given back')
  const watch = await watchSettings({
    db,
    clock,
    onChange: (settings) => void close(book.update(settings)).catch(onError),
    onError,
  })
  return {
    ...createLimiter({ clock, book, requestsPerKeyMax }),
    look: () => watch.look(),
    reservedOf: (budgetId) => book.reservedOf(budgetId),
    async close() {
      watch.stop()
      await book.close()
    },
  }
}

function inMemory(clock: Clock): Pick<BookParts, 'openAllowance' | 'openFund'> {
  return {
    openAllowance: (kind, { limit }) =>
      kind === 'concurrency' ? createFundAllowance(limit) : createBucketAllowance(limit, clock),
    openFund: ({ limit, readSpent, isFresh }) => createFundAllowance(limit, isFresh ? null : readSpent),
  }
}
