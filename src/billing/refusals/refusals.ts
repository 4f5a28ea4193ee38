import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { modelIds } from '../../core/model.ts'
import { refusalClassOf, serviceFaultOf, type RefusalClass } from '../../core/refusal.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { minuteMs } from './minute.ts'
import { UnservedCounts, writeUnserved } from './unserved.ts'

/** Written this much later, all classes of all organizations at a time; a process that is killed loses no more. */
const writeAfterMs = 5_000
/** Counters that wait for a database that is away: half an hour of ten classes for each of 300 organizations. */
const waitingMax = 100_000
/** PostgreSQL takes 65,535 values in one statement, SQLite 32,766, and a counter has 4. */
const rowsPerStatement = 5_000

/**
 * Counts requests that were turned away: by limits, budgets, or for what they asked.
 *
 * They leave no row in the ledger, where each would wait for the disk: whoever is refused may ask again at once, and
 * a thousand times a second. A row for each organization, class and minute is all they come to.
 */
export interface Refusals {
  /**
   * Counts the request that ends with this error and has no row in the ledger: as a refusal, if it is one, and against
   * the service, if it is its fault. Null is where nobody knows whose request it was, or for which model; what was to
   * generate nothing names no model.
   */
  count(organizationId: OrganizationId | null, error: unknown, model?: string | null): void
}

export type LiveRefusals = Refusals & {
  /** Writes what was counted since the last time. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type RefusalsParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'turnedAway' | 'judged'>
}

type Counter = { readonly organizationId: OrganizationId | null; readonly class: RefusalClass; readonly atMs: number }

export function createRefusals({ db, clock, log, metrics }: RefusalsParts): LiveRefusals {
  let counts = new Map<string, Counter & { requests: number }>()
  let callOff: (() => void) | null = null
  let writing = Promise.resolve()
  let lost = 0
  const unserved = new UnservedCounts()

  function add(counter: Counter, requests: number): void {
    const key = `${counter.atMs} ${counter.class} ${counter.organizationId ?? ''}`
    const known = counts.get(key)
    if (known !== undefined) known.requests += requests
    else if (counts.size < waitingMax) counts.set(key, { ...counter, requests })
    else lost += requests
  }

  async function write(): Promise<void> {
    callOff?.()
    callOff = null
    // Gateways that add to the same counters at once do so in one order, and never wait for each other in a circle.
    const batch = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
    counts = new Map()
    const unservedBatch = unserved.take()
    try {
      // All of them or none, so that what failed can be added again.
      await db.transaction().execute(async (transaction) => {
        await addToCounters(transaction, batch)
        await writeUnserved(transaction, unservedBatch, clock.nowMs())
      })
      if (lost > 0) log.error({ requests: lost }, 'refused requests were not counted: the database was away too long')
      lost = 0
    } catch (error) {
      log.warn({ error }, 'the counters of refused requests could not be written; it is tried again')
      for (const { requests, ...counter } of batch) add(counter, requests)
      unserved.putBack(unservedBatch)
      schedule()
    }
  }

  function schedule(): void {
    callOff ??= clock.after(writeAfterMs, () => void flush())
  }

  function flush(): Promise<void> {
    return (writing = writing.then(write))
  }

  return {
    count(organizationId, error, model) {
      const nowMs = clock.nowMs()
      const fault = serviceFaultOf(error)
      if (fault !== null && organizationId !== null && model !== undefined) {
        unserved.add({ organizationId, model, fault, atMs: nowMs })
        judgeUnserved(metrics, model)
        schedule()
      }
      const refusal = refusalClassOf(error)
      if (refusal === null) return
      metrics.turnedAway(refusal)
      add({ organizationId, class: refusal, atMs: nowMs - (nowMs % minuteMs) }, 1)
      schedule()
    },
    flush,
    close: () => flush().then(() => callOff?.()),
  }
}

/** A model's name is what a client wrote: only those that are offered have a series. */
function judgeUnserved(metrics: RefusalsParts['metrics'], model: string | null): void {
  const offered = modelIds.find((id) => id === model)
  if (offered !== undefined) metrics.judged(offered, 'unserved')
}

type Count = Counter & { readonly requests: number }

async function addToCounters(transaction: Transaction<Tables>, counts: readonly Count[]): Promise<void> {
  for (let first = 0; first < counts.length; first += rowsPerStatement) {
    const rows = counts.slice(first, first + rowsPerStatement).map(({ organizationId, atMs, ...count }) => ({
      organization_id: organizationId ?? ('' as const),
      class: count.class,
      at: atMs,
      requests: count.requests,
    }))
    await transaction
      .insertInto('refusals')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['organization_id', 'at', 'class'])
          .doUpdateSet({ requests: sql<number>`refusals.requests + excluded.requests` }),
      )
      .execute()
  }
}

/** Deletes counters of earlier minutes than this. */
export async function deleteOldRefusals(db: Database, beforeMs: number): Promise<void> {
  await db.deleteFrom('refusals').where('at', '<', beforeMs).execute()
}
