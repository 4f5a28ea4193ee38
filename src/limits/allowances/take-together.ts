import type { Claim } from './allowance.ts'
import { ApiError } from '../../core/error.ts'

/** Between being replenished and being taken, others may be quicker; so often it is tried again. */
const attemptsMax = 3

/** Takes all of the amounts or none. Returns the claims that could not be met, none when all were. */
export async function takeTogether<Kind extends Claim>(claims: readonly Kind[]): Promise<readonly Kind[]> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const short = takeAtOnce(claims)
    if (short.length === 0) return short
    await Promise.all(short.map(({ allowance, amount }) => allowance.replenish(amount)))
  }
  return takeAtOnce(claims)
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
