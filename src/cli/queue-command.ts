import { loadConfig } from '../config/load.ts'
import { parseArguments } from './parse-arguments.ts'
import type { Queue } from '../http/api/engine-schemas.ts'
import { findRunningService } from './running-service.ts'

/** `odyssey queue`: who waits for the running service's models, in order. */
export async function queueCommand(args: string[]): Promise<void> {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const service = await findRunningService(loadConfig().home)
  const queues = (await service?.readQueues()) ?? []
  if (json) console.log(JSON.stringify({ running: service !== null, queues }))
  else if (service === null) console.log('The service is not running.')
  else for (const queue of queues) console.log(describeInWords(queue))
}

function describeInWords({ models, slots, running, waiting, oldestWaitMs, upcoming }: Queue): string {
  const names = models.length === 0 ? 'weights that are being replaced' : models.join(', ')
  const wait = waiting === 0 ? 'nobody waits' : `${waiting} waiting, the oldest for ${seconds(oldestWaitMs)}`
  const lines = upcoming.map(({ position, requestId, apiKeyId, model, inputTokens, waitedMs }) => {
    const size = inputTokens === null ? 'being prepared' : `${inputTokens} tokens`
    return `${String(position).padStart(4)}. ${requestId}  ${apiKeyId}  ${model}, ${size}, ${seconds(waitedMs)}`
  })
  const more = waiting > upcoming.length ? [`      and ${waiting - upcoming.length} more`] : []
  return [`${names}: ${running} of ${slots} slots taken, ${wait}`, ...lines, ...more].join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
