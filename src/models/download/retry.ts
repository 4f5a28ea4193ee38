import type { Clock } from '../../lib/clock.ts'
import { DownloadError, Interruption } from './download-error.ts'

/** How long and how often a download is tried: retries with exponential backoff and jitter. */
export type RetryPolicy = {
  /** A server that sends nothing for this long has stalled. */
  readonly idleMs: number
  /** Tries in a row that may bring nothing new. */
  readonly triesMax: number
  /** The pause after so many tries without anything new; zero of them follow a try that brought something. */
  pauseMs(futileTries: number): number
}

/** Gives a network about two minutes to come back, and a server that cuts every connection all the time it needs. */
export const defaultRetryPolicy: RetryPolicy = {
  idleMs: 30_000,
  triesMax: 8,
  pauseMs: (futileTries) => (futileTries === 0 ? 200 : Math.min(30_000, 500 * 2 ** (futileTries - 1))),
}

export type RetryOptions = {
  readonly retryPolicy: RetryPolicy
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly host: string
  /** Whether any server has answered yet. Who cannot reach the first one is offline and told so at once. */
  hasContact(): boolean
  /** Whether anything new has come since the last time this was asked. */
  hasProgressed(): boolean
  onPause(reason: string, pauseMs: number): void
}

/** Repeats what is interrupted as long as it gets on. Other errors are passed on. */
export async function retry<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { retryPolicy, signal } = options
  let futileTries = 0
  for (;;) {
    try {
      signal.throwIfAborted()
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Interruption)) throw error
      futileTries = options.hasProgressed() ? 0 : futileTries + 1
      if (futileTries >= retryPolicy.triesMax || (error.unreachableHost !== null && !options.hasContact())) {
        throw givenUp(error, options)
      }
      // Jitter keeps many clients of one server from coming back all at once.
      const pauseMs = Math.max(error.waitMs, retryPolicy.pauseMs(futileTries) * (0.75 + Math.random() / 2))
      options.onPause(error.message, pauseMs)
      await pause(pauseMs, options)
    }
  }
}

function givenUp(last: Interruption, { retryPolicy, host, hasContact }: RetryOptions): DownloadError {
  if (last.unreachableHost !== null && !hasContact()) {
    return new DownloadError({ kind: 'unreachable', host: last.unreachableHost }, last.message, { cause: last })
  }
  const message = `${host}: ${last.message} It went no better ${retryPolicy.triesMax} times in a row.`
  return new DownloadError({ kind: 'no-progress', host }, message, { cause: last })
}

function pause(ms: number, { clock, signal }: RetryOptions): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}
