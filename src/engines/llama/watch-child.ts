import { createInterface } from 'node:readline'
import { afterReading, every, type Clock } from '../../lib/clock.ts'
import { processorWaitMs } from '../../lib/system/processor-wait.ts'

/** The part of a child process that the watch uses. */
type Watched = {
  readonly pid?: number | undefined
  readonly connected: boolean
  on(event: 'message', listener: (message: Heard) => void): void
  send(message: { readonly kind: 'ping' }): void
  kill(signal: 'SIGKILL'): void
}

/** The answer of a child of either kind to a ping, and everything else that it says. */
type Heard = { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean } | { readonly kind: 'other' }

/** A child that does not answer for this long hangs, unless it was others that the processors served meanwhile. */
const silenceMsMax = 10_000
/** A child that waits for a processor is given so much more time at the most. */
const processorWaitMsMax = 120_000
/** Before its first word a child has to be started, which takes long on a machine where everything starts at once. */
const launchMsMax = 60_000
/** A busy child that finishes no step for this long hangs in native code; a step of a large model on few cores takes a while. */
const stepMsMax = 120_000
const pingIntervalMs = 1_000

type HangExcuses = {
  /** Until then silence says nothing. */
  patientUntilMs(): number
  /** How long the child has waited for a processor in all; null where nobody can tell. */
  waitedMs?(pid: number | undefined): number | null
}

/** Kills a child that gives no sign of life, or no progress while it is busy. Returns the way to stop watching. */
export function watchForHang(child: Watched, clock: Clock, excuses: HangExcuses): () => void {
  const { patientUntilMs, waitedMs = processorWaitMs } = excuses
  let heardAtMs = clock.monotonicMs() + launchMsMax - silenceMsMax
  let progressAtMs = heardAtMs
  let lastSteps = 0
  let isStopped = false
  /** What it had waited for a processor when it was last heard, to a ping. */
  let heard = { atMs: heardAtMs, waitedMs: waitedMs(child.pid) }
  child.on('message', (message) => {
    heardAtMs = clock.monotonicMs()
    if (message.kind !== 'pong') return
    if (!message.isBusy || message.steps !== lastSteps) progressAtMs = heardAtMs
    lastSteps = message.steps
  })
  const excusedMs = () => {
    const waited = waitedMs(child.pid)
    return waited === null || heard.waitedMs === null ? 0 : Math.min(processorWaitMsMax, waited - heard.waitedMs)
  }
  const isHanging = () => {
    const now = clock.monotonicMs()
    return now - Math.max(heardAtMs, patientUntilMs()) > silenceMsMax + excusedMs() || now - progressAtMs > stepMsMax
  }
  const tick = () => {
    if (heard.atMs !== heardAtMs) heard = { atMs: heardAtMs, waitedMs: waitedMs(child.pid) }
    // A service that was held up itself has not read yet what the child said meanwhile.
    if (isHanging()) afterReading(clock, 0, () => !isStopped && isHanging() && child.kill('SIGKILL'))
    else if (child.connected) child.send({ kind: 'ping' })
  }
  tick()
  const stop = every(clock, pingIntervalMs, tick)
  return () => {
    isStopped = true
    void stop()
  }
}

/** How far loading has come. */
export type LoadingOutlook = {
  /** From 0 to 1. */
  readonly share: number
  /** By what loading took so far; null where nobody can tell. */
  readonly readyInMs: number | null
}

export type LoadingWatch = {
  outlook(): LoadingOutlook
  /** How far loading has come; only what is more than before counts. */
  advanced(progress: number): void
  stop(): void
}

/** Starting the process and opening its library takes long on a machine where everything starts at once. */
const stallMsAtLeast = 120_000
/** The speed of the slowest disk that weights are sensibly read from; a driver may read all of them without a word. */
const bytesPerMsLeast = 50_000

/** How long loading `bytes` may go without a sign of advancing. */
export function stallLimitMs(bytes: number): number {
  return Math.ceil(stallMsAtLeast + bytes / bytesPerMsLeast)
}

/** Calls `onStall` once when loading does not advance for too long. */
export function watchLoading(clock: Clock, limitMs: number, onStall: () => void): LoadingWatch {
  const startedMs = clock.monotonicMs()
  let farthest = -1
  let cancel = clock.after(limitMs, onStall)
  return {
    outlook: () => estimate(Math.min(1, Math.max(0, farthest)), clock.monotonicMs() - startedMs),
    advanced(progress) {
      if (!(progress > farthest)) return
      farthest = progress
      cancel()
      cancel = clock.after(limitMs, onStall)
    },
    stop: () => cancel(),
  }
}

/** Before so much is read nothing can be said of the rest: opening the library and planning come first. */
const tellingShare = 0.02
/** What comes after the last byte is read, by the time that reading takes: the warm-up reads every weight once more. */
const warmUpShare = 0.25

function estimate(share: number, elapsedMs: number): LoadingOutlook {
  if (share < tellingShare) return { share, readyInMs: null }
  return { share, readyInMs: Math.ceil((elapsedMs / share) * (1 - share + warmUpShare)) }
}

/** Beyond this a line of a child's output is cut. */
const lineCharactersMax = 1_000

type Outputs = { readonly stdout: NodeJS.ReadableStream | null; readonly stderr: NodeJS.ReadableStream | null }

/** Passes on each line that a child writes and that says anything. */
export function forwardLines({ stdout, stderr }: Outputs, onLine: (line: string) => void): void {
  for (const input of [stdout, stderr]) {
    if (input === null) continue
    createInterface({ input }).on('line', (line) => {
      if (line.trim() !== '') onLine(line.slice(0, lineCharactersMax))
    })
  }
}
