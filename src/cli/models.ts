import { loadConfig } from '../config/load.ts'
import { modelIds } from '../core/model.ts'
import { parseArguments } from './parse-arguments.ts'
import { resolveWeights } from './start-engines.ts'
import { readStatus } from './status-file.ts'

/** `odyssey models`: which weights answer for each model, and what the running service has loaded. */
export async function modelsCommand(args: string[]): Promise<void> {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const config = loadConfig()
  const status = readStatus(config.home)
  const rows =
    status?.models ??
    modelIds.map((id) => {
      const { path, isPlaceholder } = resolveWeights(config, id)
      return {
        id,
        weights: path,
        isPlaceholder,
        state: 'not running',
        windowTokens: null,
        slots: null,
        enginePid: null,
      }
    })
  if (json) {
    console.log(JSON.stringify({ running: status !== null, address: status?.address ?? null, models: rows }))
    return
  }
  console.log(
    status === null ? 'The service is not running.' : `The service runs at ${status.address} (process ${status.pid}).`,
  )
  for (const { id, weights, isPlaceholder, state, windowTokens, slots } of rows) {
    const size = windowTokens === null ? '' : `, window ${windowTokens} tokens, ${slots ?? '?'} slots`
    console.log(`${id.padEnd(11)} ${state}${size}: ${weights}${isPlaceholder ? ' (placeholder)' : ''}`)
  }
}
