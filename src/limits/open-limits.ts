import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { ChangeFeed } from '../db/change-feed.ts'
import type { Database } from '../db/database.ts'
import { nowAndEvery, type Clock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { notingFaults } from '../telemetry/note-faults.ts'
import { createBucketAllowance } from './allowances/token-bucket.ts'
import { createFixedAllowance } from './allowances/fixed-allowance.ts'
import type { ReadSpent, BudgetParts } from './budgets/budget-account.ts'
import type { Amounts } from './budgets/amounts.ts'
import { alertOverlooked } from './budgets/overlooked-alerts.ts'
import type { SharedAllowances } from './leases/shared-allowances.ts'
import { LimitBook } from './limit-book.ts'
import type { BookParts, OpenAllowance } from './limit-entry.ts'
import { readStanding, type LimitStanding } from './limit-standing.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import type { LimitChange } from './settings/change-limits.ts'
import { openSettings } from './settings/live-settings.ts'
import type { Budget } from './settings/setting.ts'
import type { Allowance } from './allowances/allowance.ts'

export type LimitsParts = {
  readonly db: Database
  /** Says when limits and budgets were changed. */
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly log: Log
  /** What was spent before this process began, by the ledger. */
  readonly readSpent: ReadSpent
  readonly requestsPerKeyMax: number | null
  /** Where allowances are kept that several gateways share; absent, they are kept in memory. */
  readonly shared?: SharedAllowances
}

export type Limits = Limiter & {
  /** Puts a change that was made here into force. */
  apply(change: LimitChange): Promise<void>
  /** Puts changed settings into force at once instead of within a second. */
  look(): Promise<void>
  /** What this gateway's requests have reserved of a budget; null for one that is not in force. */
  reservedOf(budgetId: string): Amounts | null
  /** What is spent of a budget, as far as this gateway knows; null for one that is not in force. */
  spentOf(budgetId: string): Amounts | null
  /** How the limits stand that apply to a key's requests for a model; null for requests of any. */
  readStanding(principal: ApiKeyPrincipal, model: string | null): LimitStanding[]
  close(): Promise<void>
}

/** Opens the limits and budgets in the database and keeps to their changes. */
export async function openLimits(parts: LimitsParts): Promise<Limits> {
  const { db, feed, clock, log, readSpent, requestsPerKeyMax, shared } = parts
  await shared?.removeOld()
  const alerts = createAlertRecorder(parts)
  const book = new LimitBook({ clock, readSpent, alert: alerts.alert, ...inMemory(clock), ...shared })
  const close = (old: readonly { close(): Promise<void> }[]) => Promise.all(old.map((allowance) => allowance.close()))
  const onError = (error: unknown) => log.error({ error }, 'the limits cannot be read or given back')
  const settings = await openSettings({
    db,
    feed,
    onChange: (next) => void close(book.update(next)).catch(onError),
    onError,
  })
  const stopLooking = lookForOverlooked(parts, alerts)
  return {
    ...createLimiter({ clock, book, requestsPerKeyMax }),
    apply: (change) => settings.apply(change),
    look: () => settings.look(),
    reservedOf: (budgetId) => book.reservedOf(budgetId),
    spentOf: (budgetId) => book.spentOf(budgetId),
    readStanding: (principal, model) => readStanding(book, principal, model),
    async close() {
      settings.stop()
      await stopLooking()
      alerts.stop()
      await book.close()
    },
  }
}

/** Rows that waited for the database come after the start, and another gateway may have ended with an alert untold. */
const lookEveryMs = 3_600_000
const lookAgainMs = 60_000

/** Looks for alerts that nobody could write down: now and once an hour, and soon again where it cannot look. */
function lookForOverlooked(
  { db, clock, log, readSpent }: LimitsParts,
  { alert }: Pick<AlertRecorder, 'alert'>,
): () => Promise<void> {
  const stopping = new AbortController()
  let nextMs = clock.monotonicMs()
  const look = notingFaults(log, 'it is not known whether an alert of a budget was never recorded', async () => {
    if (clock.monotonicMs() < nextMs) return
    await alertOverlooked({ db, clock, readSpent, alert, signal: stopping.signal })
    nextMs = clock.monotonicMs() + lookEveryMs
  })
  const stop = nowAndEvery(clock, lookAgainMs, look)
  return () => {
    stopping.abort()
    return stop()
  }
}

/** Allowances that this process keeps for itself. */
export function inMemory(
  clock: Clock,
): Pick<BookParts, 'openAllowance' | 'openReportedAllowance' | 'openBudgetAllowance'> {
  const openAllowance: OpenAllowance = (kind, { limit }) =>
    kind === 'concurrency' ? createFixedAllowance(limit) : createBucketAllowance(limit, clock)
  return {
    openAllowance,
    // A limit says for itself whether it refuses too many requests.
    openReportedAllowance: (kind, allowance) =>
      kind === 'requests' ? openAllowance(kind, allowance) : createReportedAllowance(openAllowance(kind, allowance)),
    openBudgetAllowance: ({ limit, readSpent, isFresh }) => createFixedAllowance(limit, isFresh ? null : readSpent),
  }
}

/** The pause after a first failure, which doubles with each further one: a database may be away for hours. */
const retryMsMin = 1_000
const retryMsMax = 60_000

export type AlertRecorder = {
  readonly alert: BudgetParts['alert']
  /** Tries no more what could not be recorded yet. */
  stop(): void
}

/**
 * Writes alerts down, each once for a share of a budget and period however many gateways or restarts notice it. One that
 * cannot be written is kept and tried again: a budget that is used up has no further request that would notice it.
 */
export function createAlertRecorder(parts: Pick<LimitsParts, 'db' | 'clock' | 'log'>): AlertRecorder {
  const { clock, log } = parts
  const retries = new Set<() => void>()
  let isStopped = false
  const attempt = (reached: Parameters<BudgetParts['alert']>, failures: number) => {
    writeAlert(parts, ...reached).catch((error: unknown) => {
      const [budget, { percent }] = reached
      if (failures === 0)
        log.error({ ...fieldsOf(budget, percent), error }, 'the alert of a budget is not recorded yet')
      if (isStopped) return
      const cancel = clock.after(Math.min(retryMsMax, retryMsMin * 2 ** failures), () => {
        retries.delete(cancel)
        attempt(reached, failures + 1)
      })
      retries.add(cancel)
    })
  }
  return {
    alert: (...reached) => attempt(reached, 0),
    stop() {
      isStopped = true
      for (const cancel of retries) cancel()
    },
  }
}

async function writeAlert(
  { db, clock, log }: Pick<LimitsParts, 'db' | 'clock' | 'log'>,
  ...[budget, { percent, periodStart }, readSpent]: Parameters<BudgetParts['alert']>
): Promise<void> {
  const spent = await readSpent()
  const written = await db
    .insertInto('budget_alerts')
    .values({
      budget_id: budget.id,
      period_start: periodStart,
      percent,
      organization_id: budget.organizationId,
      at: clock.nowMs(),
      spent_micros: spent.micros,
      spent_tokens: spent.tokens,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('budget_id')
    .executeTakeFirst()
  if (written !== undefined) log.warn({ ...fieldsOf(budget, percent), spent }, 'a budget has reached an alert')
}

function fieldsOf({ id, organizationId, subject }: Budget, percent: number) {
  return { budget_id: id, organization_id: organizationId, subject: subject.id, alert_percent: percent }
}

/**
 * An allowance that is counted and shown, and refuses nobody.
 *
 * Nothing is reserved of it. What was used is taken as far as it goes, so that no debt is shown that nobody pays.
 */
function createReportedAllowance(counted: Allowance): Allowance {
  return {
    get limit() {
      return counted.limit
    },
    returnsAtOnce: true,
    lagMs: 0,
    free: () => Infinity,
    remaining: () => counted.remaining(),
    left: () => Infinity,
    take() {},
    settle: (_, used) => counted.take(Math.min(used, counted.free())),
    returned: () => null,
    giveBackUntaken() {},
    replenish: () => Promise.resolve(),
    waitMs: (amount) => counted.waitMs(amount),
    resize: (limit) => counted.resize(limit),
    close: () => counted.close(),
  }
}
