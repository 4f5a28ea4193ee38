import type { Claim } from './allowance.ts'

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
