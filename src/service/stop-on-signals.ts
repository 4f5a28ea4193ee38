import { constants } from 'node:os'
import type { Config } from '../config/schema.ts'
import type { RequestTracker } from '../http/request-tracker.ts'
import { every, pause, systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'

export type StopOptions = {
  readonly tracker: RequestTracker
  readonly server: Pick<Config['server'], 'noticeSeconds' | 'drainSeconds'>
  /** The launcher's process, whose end stops the service as a signal does. */
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
 *     first signal   the service says that it is not ready, and still takes what load balancers send
 *     notice over    new requests are refused, those under way end by themselves
 *     drain time up, or second signal   what is left is told and cut
 *     at last        engines, listener and database are closed; exit code 0
 */
export function stopOnSignals({ tracker, server, launcherPid, log, stop }: StopOptions): void {
  let heard = 0
  const hurry = Promise.withResolvers<void>()

  async function shutDown(): Promise<void> {
    tracker.giveNotice()
    if (server.noticeSeconds > 0) await Promise.race([pause(systemClock, server.noticeSeconds * 1_000), hurry.promise])
    const underWay = tracker.size
    log.info({ under_way: underWay }, 'draining')
    const drained = tracker.drain()
    const minimum = underWay === 0 ? Promise.resolve() : pause(systemClock, listenOnMs)
    await Promise.race([
      Promise.all([drained, minimum]),
      pause(systemClock, server.drainSeconds * 1_000),
      hurry.promise,
    ])
    tracker.abortAll()
    await Promise.race([drained, pause(systemClock, abortMs)])
    await stop()
    log.info('stopped')
    process.exit(0)
  }

  const onSignal = () => {
    heard += 1
    if (heard === 1) shutDown().catch((error: unknown) => fail(log, error))
    else hurry.resolve()
  }
  for (const signal of signals) {
    process.removeListener(signal, endAtOnce)
    process.on(signal, onSignal)
  }
  if (launcherPid !== null) watchLauncher(launcherPid, systemClock, onSignal)
  // Going on after an unknown failure would go on with an unknown state.
  process.on('uncaughtException', (error) => fail(log, error))
}

/** The last is that of a terminal which is closed. */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Lets a signal end the process until the service can stop in order: there is nothing under way yet. The first process of a
 * container would never hear of one that it does not listen to.
 */
export function endOnSignals(): void {
  for (const signal of signals) process.on(signal, endAtOnce)
}

function endAtOnce(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal])
}

function fail(log: Log, error: unknown): void {
  log.error({ error }, 'the service failed and ends')
  process.exit(1)
}

/** A port and a data folder that are held this much longer keep nobody from starting again. */
const launcherPollMs = 500

/**
 * Calls when the launcher is gone. It passes signals on as long as it lives; killed, it cannot, and a service without
 * it would hold its port and its data folder with nobody to stop it.
 */
export function watchLauncher(pid: number, clock: Clock, gone: () => void): void {
  const stop = every(clock, launcherPollMs, () => {
    if (isAlive(pid)) return
    void stop()
    gone()
  })
}

function isAlive(pid: number): boolean {
  // Where a process outlives its parent it is given another one; Windows leaves it the number.
  if (process.ppid !== pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
