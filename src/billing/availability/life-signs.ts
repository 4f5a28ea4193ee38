// What a gateway writes down of its life: for itself every ten seconds, and for each model whenever it has answered.
//
//     seen seen seen  failed      seen seen   end of the process
//     └──── span ───┘             └── span ─┘
//
// A span says that there was life in all of it. Whatever no span of any gateway covers was down, or nobody knows, which
// counts alike.

import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { SpanBook, type Span } from './span-book.ts'

export const beatMs = 10_000

export type LifeSigns = {
  /** From now on the gateway lets requests in. */
  begin(): void
  /** The model has made something at this moment; called with every token. */
  seen(model: string): void
  /** The model was asked and did not answer. */
  failed(model: string, code: string): void
  /** How long the model has shown nothing; Infinity where it never has, or failed since. */
  silentMs(model: string): number
  close(): Promise<void>
}

export type LifeSignsParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Pick<Log, 'warn' | 'info'>
  /** A new one with every start. */
  readonly bootId: string
  /** Whether it lets nobody in any more: then it shows no sign, though it still answers. */
  isStopping(): boolean
}

export function createLifeSigns({ db, clock, log, bootId, isStopping }: LifeSignsParts): LifeSigns {
  let book: SpanBook | null = null
  let stop = () => Promise.resolve()
  const seenMs = new Map<string, number>()
  let writing: Promise<void> | null = null
  let isAway = false

  function beat(): void {
    if (isStopping()) return
    book?.beat(clock.monotonicMs(), clock.nowMs(), seenMs)
    // A database that hangs must not keep the heart from beating.
    writing ??= write().finally(() => (writing = null))
  }

  async function write(): Promise<void> {
    const spans = book?.takeChanged() ?? []
    try {
      await writeSpans(db, bootId, spans)
      if (isAway) log.info('the signs of life are written again')
      isAway = false
    } catch (error) {
      book?.putBack(spans)
      if (!isAway) log.warn({ error }, 'the signs of life could not be written; they are kept until they can')
      isAway = true
    }
  }

  return {
    begin() {
      book = new SpanBook(clock.monotonicMs(), clock.nowMs())
      beat()
      stop = every(clock, beatMs, beat)
    },
    seen(model) {
      seenMs.set(model, clock.monotonicMs())
    },
    failed(model, code) {
      book?.beat(clock.monotonicMs(), clock.nowMs(), seenMs)
      book?.end(model, code)
      seenMs.delete(model)
    },
    silentMs: (model) => clock.monotonicMs() - (seenMs.get(model) ?? -Infinity),
    async close() {
      await stop()
      beat()
      await writing
      await write()
    },
  }
}

async function writeSpans(db: Database, bootId: string, spans: readonly Span[]): Promise<void> {
  if (spans.length === 0) return
  const rows = spans.map(({ number, subject, fromMs, untilMs, endedBy }) => {
    return { boot_id: bootId, number, subject, from_at: fromMs, until_at: untilMs, ended_by: endedBy }
  })
  await db.transaction().execute(async (transaction) => {
    for (let first = 0; first < rows.length; first += rowsPerStatement) {
      await transaction
        .insertInto('life_spans')
        .values(rows.slice(first, first + rowsPerStatement))
        .onConflict((conflict) =>
          conflict.columns(['boot_id', 'number']).doUpdateSet({
            from_at: sql<number>`excluded.from_at`,
            until_at: sql<number>`excluded.until_at`,
            ended_by: sql<string | null>`excluded.ended_by`,
          }),
        )
        .execute()
    }
  })
}

const rowsPerStatement = 1_000

/** Thirteen months, so that the same month of the year before is there. */
export const keptMs = 400 * dayMs

/**
 * When the first sign of life was; null where there is none.
 *
 * A sign from before what is kept comes of a clock that was wrong, and nothing is measured from it on.
 */
export async function readFirstSign(db: Database, nowMs: number): Promise<number | null> {
  const first = await db
    .selectFrom('life_spans')
    .select('from_at')
    .where('until_at', '>=', nowMs - keptMs)
    .orderBy('from_at')
    .limit(1)
    .executeTakeFirst()
  return first?.from_at ?? null
}

/** Deletes what ended before this. */
export async function deleteOldSigns(db: Database, beforeMs: number): Promise<void> {
  await db.deleteFrom('life_spans').where('until_at', '<', beforeMs).execute()
  await db.deleteFrom('availability_minutes').where('at', '<', beforeMs).execute()
  await db.deleteFrom('unserved_requests').where('at', '<', beforeMs).execute()
}
