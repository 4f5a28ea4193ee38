import { loadConfig } from '../config/load.ts'
import { parseArguments } from './parse-arguments.ts'
import { readStatus, type ServiceStatus } from '../service/status/status-file.ts'

/** `odyssey queue`: who waits for the running service's models, in order. It is up to a second old. */
export async function queueCommand(args: string[]): Promise<void> {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const status = readStatus(loadConfig().home)
  if (json) console.log(JSON.stringify({ running: status !== null, queues: status?.queues ?? [] }))
  else if (status === null) console.log('The service is not running.')
  else for (const queue of status.queues) console.log(describeInWords(queue))
}

type Queue = ServiceStatus['queues'][number]

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
