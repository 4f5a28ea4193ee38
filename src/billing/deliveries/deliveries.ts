import { createHmac, createSecretKey } from 'node:crypto'
import type { ApiKeyId, RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { nowAndEvery, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { createDeliveryMarks } from './delivery-marks.ts'
import { createReadNow, type ReadNow } from './read-now.ts'
import { voidUndelivered, type Voided } from './void-undelivered.ts'

/** Soon enough for whoever looks at a sum, and seldom enough that many gateways ask one database. */
const lookEveryMs = 5_000
const repetitionsAtOnce = 200

/** Whose body came in, which may be one that came in before. */
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
   * never will, which resolves when the charges for undelivered answers to the same body are void, as far as it is known
   * by then which these are.
   */
  begin(requestId: RequestId, repeated: SentBody | null): (wasDelivered: boolean) => Promise<void>
  /** What is not decided by then is found by the next service that looks. */
  close(): Promise<void>
}

export type DeliveriesOptions = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly hashKey: Uint8Array
  /** How many charges of a key are voided in one day, in UTC. */
  readonly reversalsPerKeyDayMax: number
  /** The database's clock, or in tests another one. */
  readonly readNow?: ReadNow
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { db, clock, log, hashKey, reversalsPerKeyDayMax, readNow = createReadNow(clock) } = options
  const marks = createDeliveryMarks({ db, clock, log, readNow })
  const voiding = { db, readNow, reversalsPerKeyDayMax, unwritten: () => marks.unwritten() }
  // The key is made once: from bytes, every request would make it anew.
  const key = createSecretKey(hashKey)
  const voidFor = async (requestId: RequestId) => {
    try {
      tell(log, await voidUndelivered(voiding, requestId), reversalsPerKeyDayMax)
    } catch (error) {
      log.warn({ error }, 'it is not known whether an earlier answer arrived; it is asked again')
    }
  }
  const stopLooking = nowAndEvery(clock, lookEveryMs, async () => {
    for (const requestId of await listRepetitions(db, log)) await voidFor(requestId)
  })
  return {
    hashBody: (apiKeyId, body) =>
      createHmac('sha256', key).update(apiKeyId).update('\0').update(body).digest('base64url').slice(0, 22),
    begin(requestId, repeated) {
      marks.begin(requestId)
      return async (wasDelivered) => {
        if (!wasDelivered || repeated === null) return marks.end(requestId, wasDelivered, null)
        const { organizationId, apiKeyId } = repeated.principal
        marks.end(requestId, wasDelivered, {
          request_id: requestId,
          organization_id: organizationId,
          api_key_id: apiKeyId,
          body_hash: repeated.bodyHash,
        })
        await marks.flush()
        await voidFor(requestId)
      }
    },
    async close() {
      await stopLooking()
      await marks.close()
    },
  }
}

/** The oldest first. */
async function listRepetitions(db: Database, log: Log): Promise<RequestId[]> {
  try {
    const query = db.selectFrom('repetitions').select('request_id').orderBy('at').limit(repetitionsAtOnce)
    return (await query.execute()).map(({ request_id: id }) => id)
  } catch (error) {
    log.warn({ error }, 'it could not be looked up which requests were repeated')
    return []
  }
}

function tell(log: Log, result: Voided | null, reversalsMax: number): void {
  if (result === null) return
  const { apiKeyId, voided, kept } = result
  if (kept > 0) {
    const words =
      'as many charges of a key were voided today as billing.reversalsPerKeyDayMax allows: further ones stand'
    log.warn({ api_key: apiKeyId, reversals_max: reversalsMax, kept }, words)
  }
  if (voided.length === 0) return
  const words = 'answers that did not reach their client were asked for again: their charges are void'
  log.info({ api_key: apiKeyId, voided }, words)
}
