import { createHmac, createSecretKey } from 'node:crypto'
import type { ApiKeyId, RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { RowWriter } from '../ledger/write-ahead/row-writer.ts'
import type { Clock } from '../../lib/clock.ts'
import { inTime } from '../../lib/in-time.ts'
import type { Log } from '../../telemetry/log.ts'
import { toReversal } from '../ledger/ledger-row.ts'
import type { LedgerLine } from '../ledger/read-ledger.ts'
import { createDeliveryMarks } from './delivery-marks.ts'

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
