import { sql } from 'kysely'
import type { ApiKeyId, OrganizationId, RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { DeliveryTable, RepetitionTable } from '../../db/tables/billing.ts'
import { toReversal } from '../ledger/ledger.ts'
import type { LedgerRow } from '../ledger/read-ledger.ts'
import { insertRows } from '../ledger/writer/insert-rows.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { goneMs, repeatMsMax } from './delivery-times.ts'
import type { ReadNow } from './read-now.ts'

/** The official clients repeat a request this often unless told otherwise. */
const reversalsMax = 2

export type VoidOptions = {
  readonly db: Database
  readonly readNow: ReadNow
  /** How many charges of a key are voided in one day, in UTC. */
  readonly reversalsPerKeyDayMax: number
  /** The answers of this process of which the database does not know yet whether they arrive. */
  unwritten(): ReadonlySet<RequestId>
}

export type Voided = {
  readonly apiKeyId: ApiKeyId
  readonly voided: readonly RequestId[]
  /** How many charges stand because as many of the key were voided on this day as may be. */
  readonly kept: number
}

/**
 * Voids the charges for answers to the same body that did not reach their client, now that one has.
 *
 * Not before: whoever breaks off every answer at its last token would otherwise have them for nothing. All is decided
 * in one transaction, in which no other gateway decides about the same key, and with it the repetition is done. Null
 * while it is not known yet whether an earlier answer arrives: it stays for later, also for a service that starts anew.
 */
export function voidUndelivered(options: VoidOptions, requestId: RequestId): Promise<Voided | null> {
  const { db, readNow } = options
  // Before the marks are read: what becomes of one of these answers meanwhile may not be among them.
  const unwritten = options.unwritten()
  return db.transaction().execute(async (transaction) => {
    const repetition = await takeRepetition(transaction, requestId)
    if (repetition === undefined) return null
    const nowMs = await readNow(transaction)
    const charges = await findCharges(transaction, repetition)
    const undelivered =
      charges === null ? null : await withoutAnswer(transaction, charges, { nowMs, repetition, unwritten })
    if (undelivered === null && nowMs < repetition.at + repeatMsMax) return null
    await transaction.deleteFrom('repetitions').where('request_id', '=', requestId).execute()
    const { api_key_id: apiKeyId, organization_id: organizationId } = repetition
    if (undelivered === null || undelivered.length === 0) return { apiKeyId, voided: [], kept: 0 }
    const today = await reversalsOfDay(transaction, { organizationId, apiKeyId }, nowMs)
    const voided = undelivered.slice(0, Math.max(0, options.reversalsPerKeyDayMax - today))
    if (voided.length > 0) {
      const reversals = voided.map(({ sequence: _, ...row }) => toReversal(row, nowMs))
      await insertRows(transaction, reversals)
    }
    const ids = voided.map(({ request_id: id }) => id)
    return { apiKeyId, voided: ids, kept: undelivered.length - voided.length }
  })
}

/** Any number, but no other lock's: PostgreSQL knows these locks by their numbers alone. */
const lockClass = 1_984_055

/** Nobody else decides about the key until the transaction ends. */
async function takeRepetition(transaction: Database, requestId: RequestId): Promise<RepetitionTable | undefined> {
  const select = transaction.selectFrom('repetitions').selectAll().where('request_id', '=', requestId)
  const found = await select.executeTakeFirst()
  if (found === undefined || !isPostgres(transaction)) return found
  await sql`select pg_advisory_xact_lock(${sql.lit(lockClass)}, hashtext(${found.api_key_id}))`.execute(transaction)
  return select.executeTakeFirst()
}

/**
 * The charges for finished answers to a body before this one; none where this one was not finished, or the body was
 * voided often enough. Null while its own is not there, as when the database was away.
 */
export async function findCharges(
  db: Database,
  {
    request_id: requestId,
    organization_id: organizationId,
    api_key_id: apiKeyId,
    body_hash: bodyHash,
    at,
  }: RepetitionTable,
): Promise<LedgerRow[] | null> {
  const lines = await db
    .selectFrom('ledger')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('at', '>=', at - repeatMsMax)
    .where('api_key_id', '=', apiKeyId)
    .where('body_hash', '=', bodyHash)
    .orderBy('sequence', 'desc')
    .execute()
  const charges = lines.filter(({ kind }) => kind === 'charge')
  const own = charges.find(({ request_id: id }) => id === requestId)
  if (own === undefined) return null
  if (own.outcome !== 'finished') return []
  const reversed = new Set(lines.filter(({ kind }) => kind === 'reversal').map(({ request_id: id }) => id))
  return charges
    .filter(({ outcome, sequence }) => outcome === 'finished' && sequence < own.sequence)
    .filter(({ request_id: id }) => !reversed.has(id))
    .slice(0, Math.max(0, reversalsMax - reversed.size))
}

type Known = {
  readonly nowMs: number
  readonly repetition: RepetitionTable
  readonly unwritten: ReadonlySet<RequestId>
}

/** Of these charges those whose answer did not arrive; null while that is not known of one. */
async function withoutAnswer(db: Database, charges: readonly LedgerRow[], known: Known): Promise<LedgerRow[] | null> {
  if (charges.length === 0) return []
  const ids = charges.map(({ request_id: id }) => id)
  const rows = await db.selectFrom('deliveries').selectAll().where('request_id', 'in', ids).execute()
  const marks = new Map(rows.map((mark) => [mark.request_id, mark]))
  const states = charges.map(({ request_id: id }) => stateOf(marks.get(id), known.unwritten.has(id), { ...known, db }))
  if (states.includes('under-way')) return null
  return charges.filter((_, index) => states[index] === 'lost')
}

function stateOf(
  mark: DeliveryTable | undefined,
  isUnwritten: boolean,
  { db, nowMs, repetition }: Known & { readonly db: Database },
): DeliveryTable['state'] {
  if (mark !== undefined && mark.state !== 'under-way') return mark.state
  if (isUnwritten) return 'under-way'
  // Whoever else wrote to a file is gone: it has one service at a time.
  if (!isPostgres(db)) return 'lost'
  // A gateway says within this what becomes of an answer, or that it is still on its way.
  return nowMs < (mark?.at ?? repetition.at) + goneMs ? 'under-way' : 'lost'
}

async function reversalsOfDay(
  db: Database,
  { organizationId, apiKeyId }: { readonly organizationId: OrganizationId; readonly apiKeyId: ApiKeyId },
  nowMs: number,
): Promise<number> {
  const fromMs = nowMs - (nowMs % dayMs)
  const scope = { organizationId, apiKeyIds: [apiKeyId], fromMs, toMs: null } as const
  const { rows } = await queryUsage(db, { ...scope, bucket: 'whole', groupBy: null, limit: 1, cursor: null })
  return rows[0]?.reversed ?? 0
}
