import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { ServiceFault } from '../../core/refusal.ts'
import type { Tables } from '../../db/tables.ts'
import { addKnownFailures } from '../availability/known-minutes.ts'
import { minuteMs } from './minute.ts'

/** What failed by the service's fault without a ledger row. */
export type Unserved = {
  readonly organizationId: OrganizationId
  /** Null where its body was not read yet. */
  readonly model: string | null
  readonly fault: ServiceFault
  readonly atMs: number
}

type Counter = {
  readonly organization_id: OrganizationId
  readonly at: number
  readonly model: string
  readonly class: ServiceFault
  requests: number
  first_at: number
  last_at: number
}

/** A model's name is what a client wrote, so there may be as many as they like. */
const countersMax = 100_000
/** PostgreSQL takes 65,535 values in one statement, SQLite 32,766, and a counter has 7. */
const rowsPerStatement = 4_000

/** Counters that wait to be written: one for each organization, model, class and minute, however many requests there were. */
export class UnservedCounts {
  #counters = new Map<string, Counter>()

  add({ organizationId, model, fault, atMs }: Unserved): void {
    const at = atMs - (atMs % minuteMs)
    const identity = { organization_id: organizationId, at, model: model ?? '', class: fault }
    this.#put({ ...identity, requests: 1, first_at: atMs, last_at: atMs })
  }

  /** Takes all that there is, in an order in which several gateways never wait for each other in a circle. */
  take(): readonly Counter[] {
    const taken = [...this.#counters].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter)
    this.#counters = new Map()
    return taken
  }

  /** What could not be written is written later. */
  putBack(counters: readonly Counter[]): void {
    for (const counter of counters) this.#put(counter)
  }

  #put(counter: Counter): void {
    const key = `${counter.at} ${counter.class} ${counter.organization_id} ${counter.model}`
    const known = this.#counters.get(key)
    if (known === undefined) {
      if (this.#counters.size < countersMax) this.#counters.set(key, { ...counter })
      return
    }
    known.requests += counter.requests
    known.first_at = Math.min(known.first_at, counter.first_at)
    known.last_at = Math.max(known.last_at, counter.last_at)
  }
}

export async function writeUnserved(
  transaction: Transaction<Tables>,
  counters: readonly Counter[],
  nowMs: number,
): Promise<void> {
  for (let first = 0; first < counters.length; first += rowsPerStatement) {
    await transaction
      .insertInto('unserved_requests')
      .values(counters.slice(first, first + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'at', 'model', 'class']).doUpdateSet({
          requests: sql<number>`unserved_requests.requests + excluded.requests`,
          first_at: sql<number>`case when excluded.first_at < unserved_requests.first_at
            then excluded.first_at else unserved_requests.first_at end`,
          last_at: sql<number>`case when excluded.last_at > unserved_requests.last_at
            then excluded.last_at else unserved_requests.last_at end`,
        }),
      )
      .execute()
  }
  await addKnownFailures(transaction, counters, nowMs)
}
