import { sql } from 'kysely'
import type { RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { DeliveryTable, RepetitionTable } from '../../db/tables/billing.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { keptMs, underWayEveryMs } from './delivery-times.ts'
import type { ReadNow } from './read-now.ts'

/** Written this much later, many at a time: nobody waits for it. */
const writeAfterMs = 1_000
/** More than are written at a time under the heaviest load, and few enough that nobody else who writes waits for long. */
const prunedAtOnce = 2_000
/** Marks that wait for a database that is away: ten minutes of 300 answers a second. */
const waitingMax = 200_000

export type Repetition = Omit<RepetitionTable, 'at'>
type State = DeliveryTable['state']

export type DeliveryMarksOptions = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly readNow: ReadNow
}

/** Remembers what became of answers: those of this process, and in the database those of every gateway. */
export interface DeliveryMarks {
  begin(requestId: RequestId): void
  /** The answer has left, or never will. What it repeats is written with it. */
  end(requestId: RequestId, wasDelivered: boolean, repetition: Repetition | null): void
  /** The answers of this process of which the database does not know yet whether they arrive. */
  unwritten(): ReadonlySet<RequestId>
  /** Writes what has ended so far. */
  flush(): Promise<void>
  close(): Promise<void>
}

export function createDeliveryMarks({ db, clock, log, readNow }: DeliveryMarksOptions): DeliveryMarks {
  /** When each answer began, the oldest first. */
  const underWay = new Map<RequestId, number>()
  let waiting: Ended[] = []
  let inHand: readonly Ended[] = []
  let callOff: (() => void) | null = null
  let writing = Promise.resolve()
  let isAway = false

  async function write(): Promise<void> {
    callOff?.()
    callOff = null
    inHand = waiting
    waiting = []
    try {
      const nowMs = await readNow(db)
      await writeAll(db, inHand, nowMs)
      await prune(db, nowMs)
      isAway = false
    } catch (error) {
      if (!isAway) log.warn({ error }, 'what became of answers could not be written; it is tried again')
      isAway = true
      waiting = [...inHand, ...waiting].slice(-waitingMax)
      schedule()
    }
    inHand = []
  }

  function schedule(): void {
    callOff ??= clock.after(writeAfterMs, () => void flush())
  }

  function flush(): Promise<void> {
    return (writing = writing.then(write))
  }

  /** Other gateways take an answer of which they hear nothing for lost. */
  async function tellUnderWay(): Promise<void> {
    const beganBefore = clock.monotonicMs() - underWayEveryMs
    const ids = [...underWay].filter(([, beganMs]) => beganMs <= beganBefore).map(([id]) => id)
    try {
      await writeMarks(db, 'under-way', ids, await readNow(db))
    } catch (error) {
      log.warn({ error }, 'it could not be written which answers are under way')
    }
  }

  const stopTelling = isPostgres(db) ? every(clock, underWayEveryMs, tellUnderWay) : () => Promise.resolve()
  return {
    begin: (requestId) => void underWay.set(requestId, clock.monotonicMs()),
    end(requestId, wasDelivered, repetition) {
      underWay.delete(requestId)
      waiting.push({ requestId, state: wasDelivered ? 'arrived' : 'lost', repetition })
      schedule()
    },
    unwritten: () => new Set([...underWay.keys(), ...[...inHand, ...waiting].map(({ requestId }) => requestId)]),
    flush,
    async close() {
      await stopTelling()
      await flush()
      callOff?.()
    },
  }
}

type Ended = { readonly requestId: RequestId; readonly state: State; readonly repetition: Repetition | null }

/** All or nothing, so that what failed can be written again. */
async function writeAll(db: Database, ended: readonly Ended[], nowMs: number): Promise<void> {
  const idsOf = (wanted: State) => ended.filter(({ state }) => state === wanted).map(({ requestId }) => requestId)
  const repetitions = ended.flatMap(({ repetition }) => (repetition === null ? [] : [{ ...repetition, at: nowMs }]))
  await db.transaction().execute(async (transaction) => {
    await writeMarks(transaction, 'arrived', idsOf('arrived'), nowMs)
    await writeMarks(transaction, 'lost', idsOf('lost'), nowMs)
    for (const repetition of repetitions) {
      await transaction
        .insertInto('repetitions')
        .values(repetition)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  })
}

/** All as one value: a statement with two for each mark would take longer to put together than to run. */
async function writeMarks(db: Database, state: State, ids: readonly RequestId[], nowMs: number): Promise<void> {
  if (ids.length === 0) return
  const list = JSON.stringify(ids)
  const marks = isPostgres(db)
    ? sql`json_array_elements_text(${list}::json) as mark (value)`
    : sql`json_each(${list}) as mark`
  await sql`
    insert into deliveries (request_id, at, state)
    select distinct mark.value, cast(${nowMs} as bigint), ${sql.lit(state)} from ${marks} where true
    on conflict (request_id) do update set at = excluded.at, state = excluded.state
    where deliveries.state = 'under-way'`.execute(db)
}

/** What a repetition that waits may be decided by stays with it, however long no service was there to decide it. */
async function prune(db: Database, nowMs: number): Promise<void> {
  const waiting = await db
    .selectFrom('repetitions')
    .select(({ fn }) => fn.min('at').as('at'))
    .executeTakeFirst()
  const old = db
    .selectFrom('deliveries')
    .select('request_id')
    .where('at', '<', Math.min(nowMs, Number(waiting?.at ?? nowMs)) - keptMs)
    .orderBy('at')
    .limit(prunedAtOnce)
  await db.deleteFrom('deliveries').where('request_id', 'in', old).execute()
}
