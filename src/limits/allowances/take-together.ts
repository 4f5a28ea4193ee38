import { ApiError } from '../../core/error.ts'
import { pause, type Clock } from '../../lib/clock.ts'
import type { Claim } from './allowance.ts'

/** Between being replenished and being taken, others may be quicker; so often it is tried again. */
const attemptsMax = 3
const pauseMsMax = 160
/** A database that is slow to answer is slow to be told of what comes back. */
const looksMin = 4

/** Takes all of the amounts or none. Returns the claims that could not be met, none when all were. */
export async function takeTogether<Kind extends Claim>(
  claims: readonly Kind[],
  attempts = attemptsMax,
): Promise<readonly Kind[]> {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const short = takeAtOnce(claims)
      if (short.length === 0) return short
      await Promise.all(short.map(({ allowance, amount }) => allowance.replenish(amount)))
    }
    return takeAtOnce(claims)
  } finally {
    for (const { allowance } of claims) allowance.giveBackUntaken()
  }
}

/**
 * The same where what is missing may have been settled by others a moment ago, and is on its way back: it is looked
 * for again until it must have arrived. A client that waits for each answer is so never refused.
 */
export async function takeWhenBack<Kind extends Claim>(
  clock: Clock,
  claims: readonly Kind[],
): Promise<readonly Kind[]> {
  const startedMs = clock.monotonicMs()
  // Who looks again later anyway leaves the database to those who give back.
  const attempts = claims.every(({ allowance }) => allowance.lagMs > 0) ? 1 : attemptsMax
  for (let [looks, pauseMs] = [1, 10]; ; looks += 1, pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    const short = await takeTogether(claims, attempts)
    const lagMs = Math.min(...short.map(({ allowance }) => allowance.lagMs))
    const isOver = clock.monotonicMs() - startedMs >= lagMs && (lagMs === 0 || looks >= looksMin)
    if (short.length === 0 || isOver) return short
    await pause(clock, pauseMs)
  }
}

/** The same with what is at hand. */
export function takeAtOnce<Kind extends Claim>(claims: readonly Kind[]): readonly Kind[] {
  const short = claims.filter(({ allowance, amount }) => allowance.free() < amount)
  if (short.length === 0) for (const { allowance, amount } of claims) allowance.take(amount)
  return short
}

/** A database that cannot be asked how much is left refuses nobody for good. */
export async function whenAvailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError || (error instanceof DOMException && error.name === 'AbortError')) throw error
    const reason = { code: 'overloaded', retryAfterMs: 5_000 } as const
    throw new ApiError(reason, 'The limits could not be checked. Please try again shortly.', { cause: error })
  }
}
