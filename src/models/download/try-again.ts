import type { Clock } from '../../lib/clock.ts'
import { DownloadError, Interruption } from './download-error.ts'

/** How patient a download is. */
export type Patience = {
  /** A server that sends nothing for this long has stalled. */
  readonly idleMs: number
  /** Tries in a row that may bring nothing new. */
  readonly triesMax: number
  /** The pause after so many tries without anything new; zero of them follow a try that brought something. */
  pauseMs(futileTries: number): number
}

/** Gives a network about two minutes to come back, and a server that cuts every connection all the time it needs. */
export const defaultPatience: Patience = {
  idleMs: 30_000,
  triesMax: 8,
  pauseMs: (futileTries) => (futileTries === 0 ? 200 : Math.min(30_000, 500 * 2 ** (futileTries - 1))),
}

export type Trying = {
  readonly patience: Patience
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
export async function tryAgain<Result>(attempt: () => Promise<Result>, trying: Trying): Promise<Result> {
  const { patience, signal } = trying
  let futileTries = 0
  for (;;) {
    try {
      signal.throwIfAborted()
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Interruption)) throw error
      futileTries = trying.hasProgressed() ? 0 : futileTries + 1
      if (futileTries >= patience.triesMax || (error.unreachableHost !== null && !trying.hasContact())) {
        throw givenUp(error, trying)
      }
      // A random part keeps many clients of one server from coming back all at once.
      const pauseMs = Math.max(error.waitMs, patience.pauseMs(futileTries) * (0.75 + Math.random() / 2))
      trying.onPause(error.message, pauseMs)
      await pause(pauseMs, trying)
    }
  }
}

function givenUp(last: Interruption, { patience, host, hasContact }: Trying): DownloadError {
  if (last.unreachableHost !== null && !hasContact()) {
    return new DownloadError({ kind: 'unreachable', host: last.unreachableHost }, last.message, { cause: last })
  }
  const message = `${host}: ${last.message} It went no better ${patience.triesMax} times in a row.`
  return new DownloadError({ kind: 'no-progress', host }, message, { cause: last })
}

function pause(ms: number, { clock, signal }: Trying): Promise<void> {
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
