import type { RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'

/** Written this much later, many at a time: nobody waits for it. */
const writeAfterMs = 1_000
/** Deleting old marks waits for the disk just as writing new ones does, and nothing is lost by doing it later. */
const pruneEveryMs = 60_000

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
  let prunedAtMs = -Infinity

  async function write(): Promise<void> {
    callOff = null
    const batch = delivered
    delivered = []
    try {
      const nowMs = clock.nowMs()
      await writeMarks(db, batch, nowMs)
      if (clock.monotonicMs() - prunedAtMs < pruneEveryMs) return
      prunedAtMs = clock.monotonicMs()
      await db
        .deleteFrom('deliveries')
        .where('at', '<', nowMs - keepMs)
        .execute()
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

/** SQLite takes at most 32,766 values in one statement. */
const marksPerStatement = 10_000

async function writeMarks(db: Database, ids: readonly RequestId[], nowMs: number): Promise<void> {
  for (let done = 0; done < ids.length; done += marksPerStatement) {
    const marks = ids.slice(done, done + marksPerStatement).map((id) => ({ request_id: id, at: nowMs }))
    await db
      .insertInto('deliveries')
      .values(marks)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}
