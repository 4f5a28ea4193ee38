import { loadConfig } from '../../config/load.ts'
import type { Config, WeightsChoice } from '../../config/schema.ts'
import { readWeightsMap } from '../../config/weights-map.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { readFileState, resolveWeights } from '../../models/weights/model-weights.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { parseArguments } from '../parse-arguments.ts'
import { readStatus, type ServiceStatus } from '../../service/status/status-file.ts'

/** `odyssey models`: which weights answer for each model, and what the running service has loaded. */
export function listModels(args: string[]): void {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const config = loadConfig()
  const status = readStatus(config.home)
  const rows = modelIds.map((id) => describeRow(config, status, id))
  if (json) {
    console.log(JSON.stringify({ running: status !== null, address: status?.address ?? null, models: rows }))
    return
  }
  console.log(
    status === null ? 'The service is not running.' : `The service runs at ${status.address} (process ${status.pid}).`,
  )
  for (const row of rows) console.log(describeInWords(row))
}

type Row = Omit<ServiceStatus['models'][number], 'windowTokens' | 'weightsBytes'> & {
  readonly windowTokens: number | null
  /** Null when the file is not there. */
  readonly weightsBytes: number | null
  readonly choice: WeightsChoice
  /** Where the weights were fetched from; null for those that were not. */
  readonly source: string | null
}

function describeRow(config: Config, status: ServiceStatus | null, id: ModelId): Row {
  const { path, isBuiltIn } = resolveWeights(config, id)
  const chosen = config.weightsChoices[id] === 'command' ? readWeightsMap(config.home)[id] : undefined
  const loaded = status?.models.find((model) => model.id === id)
  return {
    id,
    weights: path,
    weightsBytes: readFileState(path)?.bytes ?? null,
    isBuiltIn,
    state: 'not running',
    windowTokens: null,
    slots: null,
    enginePid: null,
    reason: null,
    ...loaded,
    choice: config.weightsChoices[id],
    source: chosen?.source ?? null,
  }
}

function describeInWords({ id, state, windowTokens, slots, weights, weightsBytes, ...row }: Row): string {
  const size = windowTokens === null ? '' : `, window ${windowTokens} tokens, ${slots ?? '?'} slots`
  const facts = [
    weightsBytes === null ? 'missing' : formatBytes(weightsBytes),
    row.isBuiltIn ? 'built-in' : null,
    choiceInWords[row.choice],
    row.source === null ? null : `from ${row.source}`,
  ]
  const note = facts.filter((fact) => fact !== null).join(', ')
  const reason = row.reason === null ? '' : `\n${''.padEnd(11)} ${row.reason}`
  return `${id.padEnd(11)} ${state}${size}\n${''.padEnd(11)} ${weights} (${note})${reason}`
}

const choiceInWords: Readonly<Record<WeightsChoice, string>> = {
  'config-file': 'named in the config file',
  command: 'chosen with models use or pull',
  'built-in': 'comes with Odyssey',
}
