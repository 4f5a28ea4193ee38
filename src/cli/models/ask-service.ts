import { randomId } from '../../lib/random-id.ts'
import { systemClock } from '../../lib/clock.ts'
import { withdrawSwapRequest, writeSwapRequest } from '../../models/fleet/swap-request.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'
import { readStatus } from '../../service/status/status-file.ts'

const pollMs = 100
/** A service looks for requests several times a second. */
const takeMsMax = 15_000
/** Time for a request that was taken just before it was withdrawn to show in the status. */
const lateMs = 2_000

/**
 * Has the running service give a model other weights, and waits until it has or has not.
 *
 * How long loading takes is the service's to limit. Throws its reason when it
 * keeps the old weights.
 */
export async function askService(home: string, swap: Swap): Promise<string> {
  const id = randomId()
  writeSwapRequest(home, { id, ...swap })
  const startedMs = systemClock.monotonicMs()
  let isWithdrawn = false
  for (;;) {
    const status = readStatus(home)
    if (status === null) {
      withdrawSwapRequest(home)
      throw new Error('The service ended meanwhile. "odyssey models" shows which weights it will start with.')
    }
    const answer = status.swap?.requestId === id ? status.swap : null
    if (answer?.state === 'done') return answer.message
    if (answer?.state === 'refused') throw new Error(`${swap.model} keeps its weights. ${answer.message}`)
    const waitedMs = systemClock.monotonicMs() - startedMs
    if (answer === null && waitedMs > takeMsMax) {
      if (!isWithdrawn) withdrawSwapRequest(home)
      isWithdrawn = true
      if (waitedMs > takeMsMax + lateMs) throw new Error('The service does not answer. Nothing was changed.')
    }
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(pollMs, resolve)
  })
}
