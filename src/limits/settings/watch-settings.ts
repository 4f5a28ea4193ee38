import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { readBudgets, type Budget } from './budget-settings.ts'
import { readLimits, type Limit } from './limit-settings.ts'

export type LimitSettings = { readonly limits: readonly Limit[]; readonly budgets: readonly Budget[] }

export type SettingsWatch = {
  /** Looks at once whether something has changed. */
  look(): Promise<void>
  stop(): void
}

type WatchParts = {
  readonly db: Database
  readonly clock: Clock
  onChange(settings: LimitSettings): void
  onError(error: unknown): void
}

/** A change is in force within a second everywhere. */
const lookEveryMs = 500

/** Reads all limits and budgets, and again whenever one of them has changed, whoever changed it. */
export async function watchSettings({ db, clock, onChange, onError }: WatchParts): Promise<SettingsWatch> {
  let seen: number | null = null
  let isStopped = false
  let cancel = () => {}
  const look = async () => {
    // Read before the settings: a change that comes between is read twice and not missed.
    const row = await db.selectFrom('limit_changes').select('count').executeTakeFirstOrThrow()
    if (row.count === seen) return
    const [limits, budgets] = [await readLimits(db), await readBudgets(db)]
    seen = row.count
    if (!isStopped) onChange({ limits, budgets })
  }
  const schedule = () => {
    cancel = clock.after(lookEveryMs, () => {
      void look()
        .catch(onError)
        .then(() => {
          if (!isStopped) schedule()
        })
    })
  }
  await look()
  schedule()
  return {
    look,
    stop() {
      isStopped = true
      cancel()
    },
  }
}
