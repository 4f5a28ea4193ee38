import { UsageError } from '../usage-error.ts'
import { pullCommand } from './pull-command.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config, WeightsChoice } from '../../config/schema.ts'
import { readWeightsMap } from '../../config/weights-map.ts'
import { takesMessages } from '../../config/pool-schema.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { readFileState, resolveWeights } from '../../models/weights/model-weights.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { parseArguments } from '../parse-arguments.ts'
import type { LoadedWeights } from '../../http/api/engine-schemas.ts'
import { findRunningService } from '../running-service.ts'
import { resolve } from 'node:path'
import { partPaths } from '../../engines/llama/gguf/inspect-weights.ts'
import { writeDigest } from '../../models/weights/weights-digests.ts'
import { makeHome } from '../../service/joins/make-home.ts'
import { requireModel } from './require-model.ts'
import { requireOpenChoice, useWeights } from './use-weights.ts'

/** `odyssey models`: shows the models, fetches weights for one, or gives it weights that are there. */
export async function modelsCommand(args: string[]): Promise<void> {
  const [action, ...rest] = args
  if (action === 'pull') return pullCommand(rest)
  if (action === 'use') return useCommand(rest)
  if (action === 'inspect') return (await import('./inspect-command.ts')).inspectCommand(rest)
  if (action === undefined || action.startsWith('-')) return listModels(args)
  throw new UsageError(`models takes pull, use, inspect or nothing, and not ${action}.`)
}

/** `odyssey models`: which weights answer for each model, and what the running service has loaded. */
async function listModels(args: string[]): Promise<void> {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const config = loadConfig()
  const service = await findRunningService(config.home)
  const weights = (await service?.readWeights()) ?? []
  const rows = modelIds.map((id) => describeRow(config, weights, id))
  if (json) {
    console.log(JSON.stringify({ running: service !== null, address: service?.address ?? null, models: rows }))
    return
  }
  console.log(
    service === null
      ? 'The service is not running.'
      : `The service runs at ${service.address} (process ${service.pid}).`,
  )
  for (const row of rows) console.log(describeInWords(row))
}

type Row = Pick<LoadedWeights, 'isBuiltIn' | 'slots' | 'enginePid' | 'reason' | 'loading' | 'hasGenericTools'> & {
  readonly id: ModelId
  readonly state: LoadedWeights['state'] | 'not running' | 'in a pool'
  readonly weights: string
  /** Null when the file is not there. */
  readonly weightsBytes: number | null
  readonly windowTokens: number | null
  readonly choice: WeightsChoice
  /** Where the weights were fetched from; null for those that were not. */
  readonly source: string | null
}

const notRunning = {
  state: 'not running',
  reason: null,
  windowTokens: null,
  slots: null,
  enginePid: null,
  loading: null,
  hasGenericTools: false,
} as const

function describeRow(config: Config, weights: readonly LoadedWeights[], id: ModelId): Row {
  const { pool } = config.models[id]
  if (pool !== null) {
    const known = { choice: config.weightsChoices[id], source: null }
    return {
      id,
      weights: `pool ${pool}${isReported(config, pool) ? ', counts reported' : ''}`,
      weightsBytes: null,
      isBuiltIn: false,
      ...notRunning,
      state: 'in a pool',
      ...known,
    }
  }
  const { path, isBuiltIn } = resolveWeights(config, id)
  const chosen = config.weightsChoices[id] === 'command' ? readWeightsMap(config.home)[id] : undefined
  const known = { choice: config.weightsChoices[id], source: chosen?.source ?? null }
  const loaded = weights.find(({ model }) => model === id)
  if (loaded === undefined) {
    return { id, weights: path, weightsBytes: readFileState(path)?.bytes ?? null, isBuiltIn, ...notRunning, ...known }
  }
  const { model, path: weightsPath, bytes, ...rest } = loaded
  return { id: model, weights: weightsPath, weightsBytes: bytes, ...rest, ...known }
}

/** Whether the servers of a pool take messages, so that their counts are theirs. */
function isReported({ pools }: Config, name: string): boolean {
  const pool = pools[name]
  return pool !== undefined && takesMessages(pool)
}

function describeInWords({ id, state, windowTokens, slots, weights, weightsBytes, ...row }: Row): string {
  const size = windowTokens === null ? '' : `, window ${windowTokens} tokens, ${slots ?? '?'} slots`
  const progress = row.loading === null ? '' : ` ${describeLoading(row.loading)}`
  const facts = [
    weightsBytes === null ? (state === 'in a pool' ? null : 'missing') : formatBytes(weightsBytes),
    row.isBuiltIn ? 'built-in' : null,
    choiceInWords[row.choice],
    row.source === null ? null : `from ${row.source}`,
    row.hasGenericTools ? 'generic tools, since the template has none' : null,
  ]
  const note = facts.filter((fact) => fact !== null).join(', ')
  const reason = row.reason === null ? '' : `\n${''.padEnd(11)} ${row.reason}`
  return `${id.padEnd(11)} ${state}${progress}${size}\n${''.padEnd(11)} ${weights} (${note})${reason}`
}

function describeLoading({ share, readyInMs }: NonNullable<LoadedWeights['loading']>): string {
  const percent = `${Math.floor(share * 100)} %`
  return readyInMs === null ? percent : `${percent}, ready in about ${Math.ceil(readyInMs / 1_000)} s`
}

const choiceInWords: Readonly<Record<WeightsChoice, string>> = {
  'config-file': 'named in the config file',
  command: 'chosen with models use or pull',
  'built-in': 'comes with Odyssey',
}

const useOptions = { 'built-in': { type: 'boolean', default: false } } as const

/** `odyssey models use`: gives a model other weights, also while the service runs. */
async function useCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: useOptions, words: 2 })
  const [name, file] = positionals
  const model = requireModel(name)
  const isBuiltIn = values['built-in']
  if (isBuiltIn === (file !== undefined)) {
    throw new UsageError('models use takes a model and either a GGUF file or --built-in.')
  }
  const config = loadConfig()
  requireOpenChoice(config, model)
  const chosen = file === undefined ? null : { weights: resolve(file), source: null, sha256: null }
  makeHome(config)
  // Who names a file means it as it is now, whatever it was before.
  if (chosen !== null) for (const path of partPaths(chosen.weights)) writeDigest(config.home, path, null)
  console.log(await useWeights(config, model, chosen))
}
