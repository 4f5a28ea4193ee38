import type { ChangeFeed } from '../../db/change-feed.ts'
import type { Database } from '../../db/database.ts'
import { createSingleFlight } from '../../lib/single-flight.ts'
import { readBudgets } from './budget-settings.ts'
import type { LimitChange } from './change-limits.ts'
import { readLimits } from './limit-settings.ts'
import type { LimitSettings } from './setting.ts'
import { readTiers } from './tiers.ts'

export type LiveSettings = {
  /** Takes over a change that was made here; only where another one came between, all is read again. */
  apply(change: LimitChange): Promise<void>
  /** Looks at once whether something has changed. */
  look(): Promise<void>
  stop(): void
}

type LiveParts = {
  readonly db: Database
  readonly feed: ChangeFeed
  onChange(settings: LimitSettings): void
  onError(error: unknown): void
}

/** Reads all limits and budgets, and keeps to their changes, whoever makes them. */
export async function openSettings({ db, feed, onChange, onError }: LiveParts): Promise<LiveSettings> {
  let settings: LimitSettings = { limits: [], budgets: [], tiers: { limits: [], tierOf: new Map() } }
  let seen: number | null = null
  let isStopped = false
  const putIntoForce = (counter: number, next: LimitSettings) => {
    seen = counter
    settings = next
    if (!isStopped) onChange(settings)
  }
  const look = createSingleFlight(async () => {
    for (;;) {
      const seenBefore = seen
      // Read before the settings: a change that comes between is read twice and not missed.
      const { limits: counter } = await feed.read()
      if (counter === seen) return
      const next = { limits: await readLimits(db), budgets: await readBudgets(db), tiers: await readTiers(db) }
      // What was put into force meanwhile may be newer than what was read.
      if (seen === seenBefore) return putIntoForce(counter, next)
    }
  })
  await look()
  const unsubscribe = feed.subscribe('limits', ({ counter }) => {
    if (counter !== seen) look().catch(onError)
  })
  return {
    async apply(change) {
      if (change.counter === seen) return
      const isNext = seen !== null && change.counter === seen + 1
      if (isNext && change.kind !== 'tiers') putIntoForce(change.counter, withChange(settings, change))
      else await look()
    },
    look,
    stop() {
      isStopped = true
      unsubscribe()
    },
  }
}

function withChange(
  { limits, budgets, tiers }: LimitSettings,
  change: Exclude<LimitChange, { readonly kind: 'tiers' }>,
): LimitSettings {
  const id = change.kind === 'removal' ? change.id : change.setting.id
  const others = {
    limits: limits.filter((limit) => limit.id !== id),
    budgets: budgets.filter((budget) => budget.id !== id),
    tiers,
  }
  if (change.kind === 'limit') return { ...others, limits: [...others.limits, change.setting] }
  if (change.kind === 'budget') return { ...others, budgets: [...others.budgets, change.setting] }
  return others
}
