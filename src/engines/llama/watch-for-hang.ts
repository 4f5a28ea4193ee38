import type { Clock } from '../../lib/clock.ts'

/** What the watch needs of a child process. */
type Watched = {
  readonly connected: boolean
  on(event: 'message', listener: (message: Heard) => void): void
  send(message: { readonly kind: 'ping' }): void
  kill(signal: 'SIGKILL'): void
}

/** What a child of either kind answers to a ping, among everything else that it says. */
type Heard = { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean } | { readonly kind: 'other' }

/** A child that does not answer for this long hangs. */
const silenceMsMax = 10_000
/** Before its first word a child has to be started, which takes long on a machine where everything starts at once. */
const launchMsMax = 60_000
/** A busy child that finishes no step for this long hangs in native code; a step of a large model on few cores takes a while. */
const stepMsMax = 120_000
const pingIntervalMs = 1_000

/** Kills a child that gives no sign of life, or no progress while it is busy. Returns the way to stop watching. */
export function watchForHang(child: Watched, clock: Clock, patientUntilMs: () => number): () => void {
  let heardAtMs = clock.monotonicMs() + launchMsMax - silenceMsMax
  let progressAtMs = heardAtMs
  let lastSteps = 0
  child.on('message', (message) => {
    heardAtMs = clock.monotonicMs()
    if (message.kind !== 'pong') return
    if (!message.isBusy || message.steps !== lastSteps) progressAtMs = heardAtMs
    lastSteps = message.steps
  })
  let cancel = () => {}
  const tick = () => {
    const now = clock.monotonicMs()
    if (now - Math.max(heardAtMs, patientUntilMs()) > silenceMsMax || now - progressAtMs > stepMsMax)
      child.kill('SIGKILL')
    else if (child.connected) child.send({ kind: 'ping' })
    cancel = clock.after(pingIntervalMs, tick)
  }
  tick()
  return () => cancel()
}
