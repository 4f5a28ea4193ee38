import { createHmac, createSecretKey } from 'node:crypto'
import type { ApiKeyId, RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { RowWriter } from '../ledger/write-ahead/row-writer.ts'
import { type Clock, inTime } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { toReversal } from '../ledger/ledger.ts'
import type { LedgerLine } from '../ledger/read-ledger.ts'
import { sql } from 'kysely'
import { isPostgres } from '../../db/is-postgres.ts'

/** A client that repeats by itself does so within this. */
const repeatMsMax = 10 * 60_000
/** The repeated request waits for it, and no longer than for its ledger row. */
const lookMsMax = 1_000
/** As often as the official clients repeat a request unless told otherwise. */
const reversalsMax = 2

/**
 * Knows which answers have reached their clients.
 *
 * An answer's row is on the disk before its last bytes leave, so a crash or a
 * broken connection in between charges for an answer that nobody got. When the
 * client then repeats the request by itself, the first row is voided.
 */
export interface Deliveries {
  /** By which the same body of the same key is recognised; it cannot be turned back. */
  hashBody(apiKeyId: ApiKeyId, body: Uint8Array): string
  /** An answer is on its way. Returns what to call when it has left, or never will. */
  begin(requestId: RequestId): (wasDelivered: boolean) => void
  /**
   * Voids the charge for the same body's answer that was finished and did not reach its client. Returns its request id.
   *
   * Throws when the database does not answer soon; the charge then stands, unless it answers later.
   */
  voidUndelivered(principal: ApiKeyPrincipal, bodyHash: string): Promise<RequestId | null>
  close(): Promise<void>
}

export type DeliveriesOptions = {
  readonly db: Database
  readonly rows: RowWriter
  readonly clock: Clock
  readonly log: Log
  readonly hashKey: Uint8Array
}

export function createDeliveries({ db, rows, clock, log, hashKey }: DeliveriesOptions): Deliveries {
  const marks = createDeliveryMarks({ db, clock, log, keepMs: 2 * repeatMsMax })
  const voidLast = async (principal: ApiKeyPrincipal, bodyHash: string): Promise<RequestId | null> => {
    const charge = await findLastCharge(db, principal, { bodyHash, fromMs: clock.nowMs() - repeatMsMax })
    if (charge === null || (await marks.has(charge.request_id))) return null
    const { sequence: _, ...row } = charge
    await rows.write([toReversal(row, clock.nowMs())])
    const words = 'an answer that did not reach its client was asked for again: its charge is void'
    log.info({ requestId: charge.request_id }, words)
    return charge.request_id
  }
  // Bytes would be made into this for every request.
  const key = createSecretKey(hashKey)
  return {
    hashBody: (apiKeyId, body) =>
      createHmac('sha256', key).update(apiKeyId).update('\0').update(body).digest('base64url').slice(0, 22),
    begin: (requestId) => marks.begin(requestId),
    voidUndelivered: (principal, bodyHash) => inTime(clock, lookMsMax, voidLast(principal, bodyHash)),
    close: () => marks.close(),
  }
}

type Sought = { readonly bodyHash: string; readonly fromMs: number }

/** The charge for the last finished answer to a body. None where it is void, or where the same body was voided often enough. */
async function findLastCharge(
  db: Database,
  { organizationId, apiKeyId }: ApiKeyPrincipal,
  { bodyHash, fromMs }: Sought,
): Promise<LedgerLine | null> {
  const lines = await db
    .selectFrom('ledger')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('at', '>=', fromMs)
    .where('api_key_id', '=', apiKeyId)
    .where('body_hash', '=', bodyHash)
    .orderBy('sequence', 'desc')
    .execute()
  const reversed = new Set(lines.filter(({ kind }) => kind === 'reversal').map(({ request_id: id }) => id))
  const last = lines.find(({ kind, outcome }) => kind === 'charge' && outcome === 'finished')
  if (last === undefined || reversed.size >= reversalsMax || reversed.has(last.request_id)) return null
  return last
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
