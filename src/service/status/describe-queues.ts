import { modelIds } from '../../core/model.ts'
import type { ServiceStatus } from './status-file.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'

/** Who waits for each loaded file's slots, in the order in which they will get one. Keys are named by their ids. */
export function describeQueues(pool: EnginePool): ServiceStatus['queues'] {
  return pool.list().map((running) => {
    const { upcoming, ...rest } = running.queue.status()
    const waiting = upcoming.map((request, index) => ({ position: index + 1, ...request }))
    return { models: modelIds.filter((id) => pool.of(id) === running), ...rest, upcoming: waiting }
  })
}
