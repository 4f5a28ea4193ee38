import { systemClock } from '../../lib/clock.ts'
import type { EnginePool } from './engine-pool.ts'

/** How old the queues in the status file may be. */
const pollMs = 1_000

/** Has the status written anew while anything runs or waits, and once after. Returns the way to stop. */
export function watchQueues(pool: EnginePool, publish: () => void): () => void {
  let wasBusy = false
  let cancel = () => {}
  const poll = () => {
    const isBusy = pool.list().some(({ engine }) => engine.uses > 0)
    if (isBusy || wasBusy) publish()
    wasBusy = isBusy
    cancel = systemClock.after(pollMs, poll)
  }
  poll()
  return () => cancel()
}
