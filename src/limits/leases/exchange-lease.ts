// What several gateways share of one allowance, in the database:
//
//     counter   a bucket's level, which refills, or what is spent of a fixed allowance
//     leases    what each gateway has taken in advance, until a time
//
// A bucket's level and all leases together never exceed the limit, and neither do what is
// spent of a fixed allowance and its leases: so no gateway needs to know what the others do.

import { sql, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import { databaseNow } from '../../db/database-now.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { Told } from './untold-use.ts'
import type { AllowancePeriod, LedgerSum } from '../budgets/budget-account.ts'

const partsPerToken = 60_000

/**
 * A lease that is not renewed for so long is void, for gateways that were in touch with the database meanwhile; a
 * gateway that cannot renew no longer uses it.
 */
export const leaseMs = 20_000

export type Exchange = Told & {
  readonly counterId: string
  readonly gatewayId: string
  readonly kind: 'bucket' | 'fixed'
  readonly limit: number
  /** Outside of it, by the database's clock, nothing is given. */
  readonly period: Pick<AllowancePeriod, 'fromMs' | 'beforeMs' | 'previousId'> | null
  /** Whether all gateways know by now that the period has begun. */
  readonly isBegun: boolean
  /** What the gateway goes on holding, without what it is given now. */
  readonly kept: number
  /** Less than this is of no use, more than `wanted` is not asked for. */
  readonly needed: number
  readonly wanted: number
  /** How long the gateway has been in touch with the database, asked when that has answered. */
  inTouchMs(): number
}

export type Exchanged = {
  readonly granted: number
  /** What nobody holds after this; for a bucket it grows from here on, and is below zero where more was used than taken. */
  readonly free: number
  /** What all have spent of a fixed allowance. */
  readonly spent: number
}

export type LeaseParts = {
  readonly db: Database
  /** The database's own time in milliseconds, the same for all gateways. */
  readonly now?: () => RawBuilder<number>
}

/**
 * Settles with the shared counter and takes what is wanted of it, if enough is there.
 *
 * `readSpent` tells by the ledger what is spent of a fixed allowance, where the counter
 * cannot: when it is new, and when a gateway has vanished with its lease.
 */
export async function exchangeLease(
  parts: LeaseParts,
  exchange: Exchange,
  readSpent: () => Promise<LedgerSum<number>>,
): Promise<Exchanged> {
  const exchanged = await tryExchange(parts, exchange, null)
  if (exchanged !== null) return exchanged
  const truth = await readSpent()
  const second = await tryExchange(parts, exchange, truth)
  if (second === null) throw new Error(`The shared counter ${exchange.counterId} cannot be read.`)
  return second
}

/** Longer than any budget's period. */
const rememberMs = 40 * 24 * 3_600_000

/** Forgets counters that nobody has used for longer than a month: those of budgets are over, the others are full again. */
export async function removeOldCounters({ db, now = databaseNow }: LeaseParts): Promise<void> {
  const before = sql<number>`${now()} - ${sql.lit(rememberMs)}`
  await db.deleteFrom('limit_counters').where('at', '<', before).execute()
  await db.deleteFrom('limit_leases').where('expires_at', '<', before).execute()
}

/** Null where the ledger has to be read first, which must not be done inside of a transaction. */
function tryExchange(
  { db, now = databaseNow }: LeaseParts,
  exchange: Exchange,
  truth: LedgerSum<number> | null,
): Promise<Exchanged | null> {
  return db.transaction().execute(async (transaction) => {
    const previous = await lockPrevious(transaction, exchange)
    const counter = await lockCounter(transaction, exchange, { now, truth })
    if (counter === null) return null
    const leases = await transaction
      .selectFrom('limit_leases')
      .selectAll()
      .where('counter_id', '=', exchange.counterId)
      .execute()
    const others = leases.filter(({ gateway_id }) => gateway_id !== exchange.gatewayId)
    const canTell = exchange.inTouchMs() >= leaseMs
    const vanished = canTell ? others.filter(({ expires_at }) => expires_at <= counter.now) : []
    if (exchange.kind === 'fixed' && vanished.length > 0 && truth === null) return null
    const sumOf = (held: readonly Lease[]) => held.reduce((sum, { amount }) => sum + amount, 0)
    const held = sumOf(others) - sumOf(vanished) + carriedOver(previous, { leases, exchange, nowMs: counter.now })
    const spent = exchange.spent + (await spentByJoined(transaction, exchange, counter))
    const unaccounted = Math.min(sumOf(vanished), Math.max(0, (truth?.sum ?? 0) - counter.level - spent))
    const result =
      exchange.kind === 'bucket'
        ? fromBucket(exchange, counter, held)
        : fromFund(exchange, { spent: counter.level + spent + unaccounted, nowMs: counter.now }, held)
    await write(transaction, exchange, { ...result, now: counter.now, vanished })
    return result
  })
}

type Lease = Selectable<Tables['limit_leases']>
type Counter = {
  readonly level: number
  readonly at: number
  /** The number of the ledger's row up to which the counter has begun with what the ledger held. */
  readonly upTo: number
  readonly now: number
}

/**
 * The leases of the period before. Whoever grows one of them is waited for, so that they are final: none is granted
 * any more once that period is over.
 */
async function lockPrevious(
  transaction: Transaction<Tables>,
  { period, isBegun }: Exchange,
): Promise<readonly Lease[]> {
  const previousId = period?.previousId ?? null
  if (previousId === null || isBegun) return []
  await transaction.selectFrom('limit_counters').select('id').where('id', '=', previousId).forUpdate().execute()
  return transaction.selectFrom('limit_leases').selectAll().where('counter_id', '=', previousId).execute()
}

/** What requests under way of gateways that have not noticed the new period yet may hold of it in a moment. */
function carriedOver(
  previous: readonly Lease[],
  {
    leases,
    exchange,
    nowMs,
  }: { readonly leases: readonly Lease[]; readonly exchange: Exchange; readonly nowMs: number },
): number {
  const known = new Set([exchange.gatewayId, ...leases.map(({ gateway_id }) => gateway_id)])
  const carried = previous.filter(({ gateway_id, expires_at }) => !known.has(gateway_id) && expires_at > nowMs)
  return carried.reduce((sum, { amount }) => sum + amount, 0)
}

/** What of it the counter has not begun with. */
async function spentByJoined(
  transaction: Transaction<Tables>,
  { spentByJoined: settled }: Exchange,
  { upTo }: Counter,
): Promise<number> {
  if (settled.length === 0) return 0
  const ids = settled.map(({ requestId }) => requestId)
  const rows = await transaction
    .selectFrom('ledger')
    .select('request_id')
    .where('request_id', 'in', ids)
    .where('kind', '=', 'charge')
    .where('sequence', '<=', upTo)
    .execute()
  const counted = new Set(rows.map(({ request_id: id }) => id))
  return settled.reduce((sum, { requestId, amount }) => sum + (counted.has(requestId) ? 0 : amount), 0)
}

async function lockCounter(
  transaction: Transaction<Tables>,
  { counterId, kind, limit }: Exchange,
  { now, truth }: { readonly now: () => RawBuilder<number>; readonly truth: LedgerSum<number> | null },
): Promise<Counter | null> {
  const find = () =>
    transaction
      .selectFrom('limit_counters')
      .select(['level', 'at', 'ledger_up_to as upTo', now().as('now')])
      .where('id', '=', counterId)
      .forUpdate()
      .executeTakeFirst()
  const existing = await find()
  if (existing !== undefined) return existing
  if (kind === 'fixed' && truth === null) return null
  const { sum: level, upTo } = kind === 'fixed' && truth !== null ? truth : { sum: limit * partsPerToken, upTo: 0 }
  await transaction
    .insertInto('limit_counters')
    .values({ id: counterId, level, at: now(), ledger_up_to: upTo })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await find()) ?? null
}

type Result = Exchanged & { readonly level: number }

/** A clock that jumps refills a bucket at most once, and one that goes back only begins anew. */
function fromBucket({ limit, kept, returned, needed, wanted }: Exchange, counter: Counter, held: number): Result {
  const capacity = Math.max(0, limit - held - kept) * partsPerToken
  const elapsedMs = Math.max(0, counter.now - counter.at)
  const refilled =
    elapsedMs >= Math.ceil((capacity - counter.level) / limit) ? capacity : counter.level + elapsedMs * limit
  const level = Math.min(capacity, refilled + returned * partsPerToken)
  const granted = grant(Math.floor(level / partsPerToken), needed, wanted)
  const left = level - granted * partsPerToken
  return { granted, level: left, free: Math.floor(left / partsPerToken), spent: 0 }
}

function fromFund(
  { limit, kept, needed, wanted, period }: Exchange,
  { spent, nowMs }: { readonly spent: number; readonly nowMs: number },
  held: number,
): Result {
  const free = limit - spent - held - kept
  const isOfPeriod = period === null || (nowMs >= period.fromMs && nowMs < period.beforeMs)
  const granted = isOfPeriod ? grant(free, needed, wanted) : 0
  return { granted, level: spent, free: Math.max(0, free - granted), spent }
}

function grant(free: number, needed: number, wanted: number): number {
  return free < needed ? 0 : Math.max(0, Math.min(free, wanted))
}

async function write(
  transaction: Transaction<Tables>,
  { counterId, gatewayId, kept }: Exchange,
  { level, granted, now, vanished }: Result & { readonly now: number; readonly vanished: readonly Lease[] },
): Promise<void> {
  await transaction.updateTable('limit_counters').set({ level, at: now }).where('id', '=', counterId).execute()
  const over = [gatewayId, ...vanished.map(({ gateway_id }) => gateway_id)]
  await transaction
    .deleteFrom('limit_leases')
    .where('counter_id', '=', counterId)
    .where('gateway_id', 'in', over)
    .execute()
  if (kept + granted <= 0) return
  await transaction
    .insertInto('limit_leases')
    .values({ counter_id: counterId, gateway_id: gatewayId, amount: kept + granted, expires_at: now + leaseMs })
    .execute()
}
