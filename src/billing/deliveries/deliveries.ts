import { createHmac, createSecretKey } from 'node:crypto'
import type { ApiKeyId, RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerWriter } from '../ledger/writer/ledger-writer.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { toReversal } from '../ledger/ledger.ts'
import type { LedgerRow } from '../ledger/read-ledger.ts'
import { sql } from 'kysely'
import { isPostgres } from '../../db/is-postgres.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { dayMs } from '../usage/usage-columns.ts'

/** A client that repeats by itself does so within this. */
const repeatMsMax = 10 * 60_000
/** The official clients repeat a request this often unless told otherwise. */
const reversalsMax = 2
/** A gateway's mark of an answer that has left is in the database this much later, where others can read it. */
const markedWithinMs = 3_000

/** The request whose body came in, which may be one that came in before. */
export type SentBody = { readonly principal: ApiKeyPrincipal; readonly bodyHash: string }

/**
 * Knows which answers have reached their clients.
 *
 * An answer's row is on the disk before its last bytes leave, so a crash or a
 * broken connection in between charges for an answer that nobody got. When the
 * client then repeats the request by itself and gets its answer, the rows before are voided.
 */
export interface Deliveries {
  /** A keyed hash by which the same body of the same key is recognised. */
  hashBody(apiKeyId: ApiKeyId, body: Uint8Array): string
  /**
   * An answer is on its way; `repeated` where its client sent the body before. Returns what to call when it has left, or
   * never will, which resolves when the charges for undelivered answers to the same body are void.
   */
  begin(requestId: RequestId, repeated: SentBody | null): (wasDelivered: boolean) => Promise<void>
  close(): Promise<void>
}

export type DeliveriesOptions = {
  readonly db: Database
  readonly rows: LedgerWriter
  readonly clock: Clock
  readonly log: Log
  readonly hashKey: Uint8Array
  /** How many charges of a key are voided in one day, in UTC. */
  readonly reversalsPerKeyDayMax: number
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { db, clock, log, hashKey } = options
  const marks = createDeliveryMarks({ db, clock, log, keepMs: 2 * repeatMsMax })
  // The key is made once: from bytes, every request would make it anew.
  const key = createSecretKey(hashKey)
  // One after the other, so that a key's reversals of the day are counted with those just made.
  let voiding: Promise<unknown> = Promise.resolve()
  const waits = new Set<() => void>()
  /** Resolves with false when it ends early because all is closed. */
  const wait = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const over = (isWhole: boolean) => {
        waits.delete(giveUp)
        resolve(isWhole)
      }
      const callOff = clock.after(ms, () => over(true))
      const giveUp = () => {
        callOff()
        over(false)
      }
      waits.add(giveUp)
    })
  const voidInTurn = (repetition: Repetition): Promise<number> => {
    const done = voiding
      .then(() => voidUndelivered(options, marks, repetition))
      .catch((error: unknown) => {
        log.warn({ error }, 'it is not known whether an earlier answer arrived')
        return 0
      })
    voiding = done
    return done
  }
  return {
    hashBody: (apiKeyId, body) =>
      createHmac('sha256', key).update(apiKeyId).update('\0').update(body).digest('base64url').slice(0, 22),
    begin(requestId, repeated) {
      const end = marks.begin(requestId)
      return async (wasDelivered) => {
        end(wasDelivered)
        if (!wasDelivered || repeated === null) return
        const repetition = { requestId, ...repeated }
        const againInMs = await voidInTurn(repetition)
        if (againInMs > 0 && (await wait(againInMs))) await voidInTurn(repetition)
      }
    },
    async close() {
      for (const giveUp of waits) giveUp()
      await voiding
      await marks.close()
    },
  }
}

type Repetition = SentBody & { readonly requestId: RequestId }

/**
 * Voids the charges for answers to the same body that did not reach their client, now that one has.
 *
 * Not before: whoever breaks off every answer at its last token would otherwise have them for nothing. Nor while another
 * gateway may still be about to write that its answer arrived. Returns after how many milliseconds that is known.
 */
async function voidUndelivered(
  { db, rows, clock, log, reversalsPerKeyDayMax }: DeliveriesOptions,
  marks: DeliveryMarks,
  repetition: Repetition,
): Promise<number> {
  const { apiKeyId } = repetition.principal
  const charges = await findCharges(db, repetition, clock.nowMs() - repeatMsMax)
  const areThere = await Promise.all(charges.map(({ request_id: id }) => marks.has(id)))
  const undelivered = charges.filter((_, index) => areThere[index] === false)
  if (undelivered.length === 0) return 0
  const others = isPostgres(db) ? undelivered.filter(({ request_id: id }) => !marks.isOwn(id)) : []
  const againInMs = Math.max(0, ...others.map(({ at }) => at + markedWithinMs - clock.nowMs()))
  if (againInMs > 0) return againInMs
  const left = reversalsPerKeyDayMax - (await reversalsOfDay(db, repetition.principal, clock.nowMs()))
  const voided = undelivered.slice(0, Math.max(0, left))
  if (voided.length < undelivered.length) {
    const words =
      'as many charges of a key were voided today as billing.reversalsPerKeyDayMax allows: further ones stand'
    log.warn({ api_key: apiKeyId, reversals_max: reversalsPerKeyDayMax }, words)
  }
  if (voided.length === 0) return 0
  await rows.write(voided.map(({ sequence: _, ...row }) => toReversal(row, clock.nowMs())))
  const words = 'answers that did not reach their client were asked for again: their charges are void'
  log.info({ api_key: apiKeyId, voided: voided.map(({ request_id: id }) => id) }, words)
  return 0
}

/** The charges for finished answers to a body before this one. None where this one was not finished, or the body was voided often enough. */
async function findCharges(
  db: Database,
  { requestId, principal, bodyHash }: Repetition,
  fromMs: number,
): Promise<LedgerRow[]> {
  const lines = await db
    .selectFrom('ledger')
    .selectAll()
    .where('organization_id', '=', principal.organizationId)
    .where('at', '>=', fromMs)
    .where('api_key_id', '=', principal.apiKeyId)
    .where('body_hash', '=', bodyHash)
    .orderBy('sequence', 'desc')
    .execute()
  const finished = lines.filter(({ kind, outcome }) => kind === 'charge' && outcome === 'finished')
  const own = finished.find(({ request_id: id }) => id === requestId)
  if (own === undefined) return []
  const reversed = new Set(lines.filter(({ kind }) => kind === 'reversal').map(({ request_id: id }) => id))
  return finished
    .filter(({ request_id: id, sequence }) => sequence < own.sequence && !reversed.has(id))
    .slice(0, Math.max(0, reversalsMax - reversed.size))
}

async function reversalsOfDay(
  db: Database,
  { organizationId, apiKeyId }: ApiKeyPrincipal,
  nowMs: number,
): Promise<number> {
  const fromMs = nowMs - (nowMs % dayMs)
  const scope = { organizationId, apiKeyIds: [apiKeyId], fromMs, toMs: null } as const
  const { rows } = await queryUsage(db, { ...scope, bucket: 'whole', groupBy: null, limit: 1, cursor: null })
  return rows[0]?.reversed ?? 0
}

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
  /** Whether the answer was this process's own, a moment ago. */
  isOwn(requestId: RequestId): boolean
  close(): Promise<void>
}

export function createDeliveryMarks({ db, clock, log, keepMs }: DeliveryMarksOptions): DeliveryMarks {
  const underWay = new Set<RequestId>()
  /** When each of the last answers ended, the oldest first. */
  const ended = new Map<RequestId, number>()
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
        const nowMs = clock.monotonicMs()
        ended.set(requestId, nowMs)
        for (const [id, atMs] of ended) {
          if (atMs > nowMs - 2 * markedWithinMs) break
          ended.delete(id)
        }
        if (!wasDelivered) return
        delivered.push(requestId)
        callOff ??= clock.after(writeAfterMs, () => {
          writing = writing.then(write)
        })
      }
    },
    isOwn: (requestId) => underWay.has(requestId) || ended.has(requestId),
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
