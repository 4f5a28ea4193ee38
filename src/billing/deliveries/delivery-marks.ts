import { sql } from 'kysely'
import type { RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'

/** Written this much later, many at a time: nobody waits for it. */
const writeAfterMs = 1_000
/** More than are written at a time under the heaviest load, and few enough that nobody else who writes waits for long. */
const prunedAtOnce = 2_000

export type DeliveryMarksOptions = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  /** After this nobody asks any more. */
  readonly keepMs: number
}

/** Remembers which answers have left, and, for those of this process, which are on their way. */
export interface DeliveryMarks {
  /** An answer is on its way. Returns what to call when it has left, or never will. */
  begin(requestId: RequestId): (wasDelivered: boolean) => void
  /** Whether the answer has left, or may still. */
  has(requestId: RequestId): Promise<boolean>
  close(): Promise<void>
}

export function createDeliveryMarks({ db, clock, log, keepMs }: DeliveryMarksOptions): DeliveryMarks {
  const underWay = new Set<RequestId>()
  let delivered: RequestId[] = []
  let callOff: (() => void) | null = null
  let writing = Promise.resolve()

  async function write(): Promise<void> {
    callOff = null
    const batch = delivered
    delivered = []
    try {
      const nowMs = clock.nowMs()
      await writeMarks(db, batch, nowMs)
      await prune(db, nowMs - keepMs)
    } catch (error) {
      // A mark that is missing costs at most the charge for an answer whose client asks for it once more.
      log.warn({ error }, 'the marks of delivered answers could not be written')
    }
  }

  return {
    begin(requestId) {
      underWay.add(requestId)
      return (wasDelivered) => {
        underWay.delete(requestId)
        if (!wasDelivered) return
        delivered.push(requestId)
        callOff ??= clock.after(writeAfterMs, () => {
          writing = writing.then(write)
        })
      }
    },
    async has(requestId) {
      await writing
      if (underWay.has(requestId) || delivered.includes(requestId)) return true
      const mark = await db
        .selectFrom('deliveries')
        .select('request_id')
        .where('request_id', '=', requestId)
        .executeTakeFirst()
      return mark !== undefined
    },
    async close() {
      callOff?.()
      await writing.then(write)
    },
  }
}

/** All as one value: a statement with two for each mark would take longer to put together than to run. */
async function writeMarks(db: Database, ids: readonly RequestId[], nowMs: number): Promise<void> {
  if (ids.length === 0) return
  const list = JSON.stringify(ids)
  const marks = isPostgres(db)
    ? sql`json_array_elements_text(${list}::json) as mark (value)`
    : sql`json_each(${list}) as mark`
  await sql`
    insert into deliveries (request_id, at) select mark.value, cast(${nowMs} as bigint) from ${marks} where true
    on conflict do nothing`.execute(db)
}

async function prune(db: Database, beforeMs: number): Promise<void> {
  const old = db
    .selectFrom('deliveries')
    .select('request_id')
    .where('at', '<', beforeMs)
    .orderBy('at')
    .limit(prunedAtOnce)
  await db.deleteFrom('deliveries').where('request_id', 'in', old).execute()
}
