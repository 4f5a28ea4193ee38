import { ApiError } from '../core/error.ts'

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
