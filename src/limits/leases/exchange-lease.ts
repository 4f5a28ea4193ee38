// What several gateways share of one allowance, in the database:
//
//     counter   a bucket's level, which refills, or what is spent of a fund
//     leases    what each gateway has taken in advance, until a time
//
// A bucket's level and all leases together never exceed the limit, and neither do what is
// spent of a fund and its leases: so no gateway needs to know what the others do.

import { sql, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'

const partsPerToken = 60_000

/**
 * A lease that is not renewed for so long is void, for gateways that were in touch with the database meanwhile; a
 * gateway that cannot renew no longer uses it.
 */
export const leaseMs = 20_000

export type Exchange = {
  readonly counterId: string
  readonly gatewayId: string
  readonly kind: 'bucket' | 'fund'
  readonly limit: number
  /** What the gateway goes on holding, without what it is given now. */
  readonly kept: number
  /** Given back to a bucket; below zero where more was used than had been taken. */
  readonly returned: number
  /** Spent of a fund since the last exchange. */
  readonly spent: number
  /** Less than this is of no use, more than `wanted` is not asked for. */
  readonly needed: number
  readonly wanted: number
  /** How long the gateway has been in touch with the database, asked when that has answered. */
  inTouchMs(): number
}

export type Exchanged = {
  readonly granted: number
  /** What nobody holds after this; for a bucket it grows from here on. */
  readonly free: number
  /** What all have spent of a fund. */
  readonly spent: number
}

export type LeaseParts = {
  readonly db: Database
  /** The database's own time in milliseconds, the same for all gateways. */
  readonly now?: () => RawBuilder<number>
}

const databaseNow = () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/**
 * Settles with the shared counter and takes what is wanted of it, if enough is there.
 *
 * `readSpent` tells by the ledger what is spent of a fund, where the counter
 * cannot: when it is new, and when a gateway has vanished with its lease.
 */
export async function exchangeLease(
  parts: LeaseParts,
  exchange: Exchange,
  readSpent: () => Promise<number>,
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
  truth: number | null,
): Promise<Exchanged | null> {
  return db.transaction().execute(async (transaction) => {
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
    if (exchange.kind === 'fund' && vanished.length > 0 && truth === null) return null
    const sumOf = (held: readonly Lease[]) => held.reduce((sum, { amount }) => sum + amount, 0)
    const held = sumOf(others) - sumOf(vanished)
    const unaccounted = Math.min(sumOf(vanished), Math.max(0, (truth ?? 0) - counter.level - exchange.spent))
    const result =
      exchange.kind === 'bucket'
        ? fromBucket(exchange, counter, held)
        : fromFund(exchange, { ...counter, unaccounted }, held)
    await write(transaction, exchange, { ...result, now: counter.now, vanished })
    return result
  })
}

type Lease = Selectable<Tables['limit_leases']>
type Counter = { readonly level: number; readonly at: number; readonly now: number }

async function lockCounter(
  transaction: Transaction<Tables>,
  { counterId, kind, limit }: Exchange,
  { now, truth }: { readonly now: () => RawBuilder<number>; readonly truth: number | null },
): Promise<Counter | null> {
  const find = () =>
    transaction
      .selectFrom('limit_counters')
      .select(['level', 'at', now().as('now')])
      .where('id', '=', counterId)
      .forUpdate()
      .executeTakeFirst()
  const existing = await find()
  if (existing !== undefined) return existing
  if (kind === 'fund' && truth === null) return null
  await transaction
    .insertInto('limit_counters')
    .values({ id: counterId, level: kind === 'bucket' ? limit * partsPerToken : (truth ?? 0), at: now() })
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
  return { granted, level: left, free: Math.max(0, Math.floor(left / partsPerToken)), spent: 0 }
}

function fromFund(
  { limit, kept, spent: newlySpent, needed, wanted }: Exchange,
  counter: Counter & { readonly unaccounted: number },
  held: number,
): Result {
  const spent = counter.level + newlySpent + counter.unaccounted
  const free = limit - spent - held - kept
  const granted = grant(free, needed, wanted)
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
