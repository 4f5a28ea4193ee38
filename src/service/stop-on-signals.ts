import type { RequestTracker } from '../http/request-tracker.ts'
import { systemClock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { watchLauncher } from './watch-launcher.ts'

export type StopOptions = {
  readonly tracker: RequestTracker
  readonly drainMs: number
  /** Whose end is a signal too. */
  readonly launcherPid: number | null
  readonly log: Log
  stop(): Promise<void>
}

/** Long enough for a load balancer to see that the service is no longer ready. */
const listenOnMs = 2_000
/** Time for the last error events and ledger rows to be written once everything was aborted. */
const abortMs = 1_500

/**
 * Ends the service in order.
 *
 *     first signal   new requests are refused, those under way end by themselves
 *     drain time up, or second signal   what is left is told and cut
 *     at last        engines, listener and database are closed; exit code 0
 */
export function stopOnSignals({ tracker, drainMs, launcherPid, log, stop }: StopOptions): void {
  let signals = 0
  const hurry = Promise.withResolvers<void>()

  async function shutDown(): Promise<void> {
    const underWay = tracker.size
    log.info({ under_way: underWay }, 'draining')
    const drained = tracker.drain()
    const minimum = underWay === 0 ? Promise.resolve() : pause(listenOnMs)
    await Promise.race([Promise.all([drained, minimum]), pause(drainMs), hurry.promise])
    tracker.abortAll()
    await Promise.race([drained, pause(abortMs)])
    await stop()
    log.info('stopped')
    process.exit(0)
  }

  const onSignal = () => {
    signals += 1
    if (signals === 1) shutDown().catch((error: unknown) => fail(log, error))
    else hurry.resolve()
  }
  // The last is that of a terminal which is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal)
  if (launcherPid !== null) watchLauncher(launcherPid, systemClock, onSignal)
  // Going on after an unknown failure would go on with an unknown state.
  process.on('uncaughtException', (error) => fail(log, error))
}

function fail(log: Log, error: unknown): void {
  log.error({ error }, 'the service failed and ends')
  process.exit(1)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
