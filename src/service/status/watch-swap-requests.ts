import { readWeightsMap } from '../../config/weights-map.ts'
import type { Config } from '../../config/schema.ts'
import { modelIds } from '../../core/model.ts'
import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ServiceStatus } from './status-file.ts'
import { takeSwapRequest, type SwapRequest } from '../../models/fleet/swap-request.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'

export type SwapWatch = {
  readonly config: Config
  readonly log: Log
  swap(swap: Swap): Promise<string>
  publish(swap: ServiceStatus['swap']): void
}

/** Looking for one small file costs nothing, and works where the system's own notices do not: across containers. */
const pollMs = 250

/** Performs what operators ask for, one after the other. Returns the way to stop. */
export function watchSwapRequests(watch: SwapWatch): () => void {
  let isStopped = false
  let cancel = () => {}
  const poll = async () => {
    const request = take(watch)
    if (request !== null) await perform(watch, request)
    if (!isStopped) cancel = systemClock.after(pollMs, () => void poll())
  }
  const logFailure = (error: unknown) => watch.log.error({ error }, 'the choice of weights cannot be read')
  void performLate(watch).catch(logFailure).then(poll)
  return () => {
    isStopped = true
    cancel()
  }
}

function take({ config, log }: SwapWatch): SwapRequest | null {
  try {
    return takeSwapRequest(config.home)
  } catch (error) {
    log.error({ error }, 'a request for other weights cannot be understood')
    return null
  }
}

async function perform({ log, swap, publish }: SwapWatch, { id: requestId, ...wanted }: SwapRequest): Promise<void> {
  publish({ requestId, state: 'under-way', message: '' })
  try {
    const message = await swap(wanted)
    log.info({ model: wanted.model }, 'weights swapped')
    publish({ requestId, state: 'done', message })
  } catch (error) {
    log.error({ model: wanted.model, error }, 'weights not swapped; the old ones go on serving')
    publish({ requestId, state: 'refused', message: messageOf(error) })
  }
}

/** What a command chose while the service was starting: it saw none running, and the service had read the choice before. */
async function performLate(watch: SwapWatch): Promise<void> {
  const { home, models, weightsChoices } = watch.config
  const map = readWeightsMap(home)
  for (const model of modelIds) {
    const chosen = map[model] ?? null
    const isAsStarted = weightsChoices[model] === 'config-file' || models[model].weights === (chosen?.weights ?? null)
    if (!isAsStarted) await perform(watch, { id: 'start', model, chosen })
  }
}
