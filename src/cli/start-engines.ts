import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Engine } from '../core/engine.ts'
import { modelIds, type ModelId } from '../core/model.ts'
import { LlamaEngine, type LlamaEngineOptions } from '../engines/llama/llama-engine.ts'
import type { CatalogEntry } from '../inference/catalog.ts'
import { describeServedModel } from '../inference/served-models.ts'
import { systemClock } from '../lib/clock.ts'
import { withAdmission } from '../scheduling/admission.ts'
import type { Log } from '../telemetry/log.ts'

const placeholderPath = fileURLToPath(new URL('../../weights/placeholder.gguf', import.meta.url))

/** One child process and the models that it answers for. */
export type RunningEngine = {
  readonly llama: LlamaEngine
  readonly engine: Engine
  readonly weightsPath: string
  readonly isPlaceholder: boolean
  readonly models: readonly ModelId[]
  /** Resolves when the weights are loaded for the first time. */
  readonly loaded: Promise<void>
}

export function resolveWeights(config: Config, id: ModelId): { path: string; isPlaceholder: boolean } {
  const { weights } = config.models[id]
  if (weights === null) return { path: placeholderPath, isPlaceholder: true }
  return { path: resolve(config.configFolder, weights), isPlaceholder: false }
}

/** Starts a child for each file of weights; models that share a file share its child and its memory. */
export function startEngines(config: Config, log: Log, onChange: () => void): RunningEngine[] {
  const modelsByPath = Map.groupBy(modelIds, (id) => resolveWeights(config, id).path)
  const missing = [...modelsByPath.keys()].filter((path) => !existsSync(path))
  if (missing.length > 0) throw new ConfigError(missing.map((path) => `There is no weights file at ${path}.`))
  return [...modelsByPath].map(([weightsPath, models]) => startOne(config, log, onChange, { weightsPath, models }))
}

function startOne(
  config: Config,
  log: Log,
  onChange: () => void,
  { weightsPath, models }: { readonly weightsPath: string; readonly models: readonly ModelId[] },
): RunningEngine {
  const loaded = Promise.withResolvers<void>()
  const childLog = log.child({ models })
  const llama = new LlamaEngine({
    settings: toLoadSettings(config, weightsPath),
    environment: config.childEnvironment,
    clock: systemClock,
    onReady({ windowTokens, slots }) {
      childLog.info({ window_tokens: windowTokens, slots }, 'engine ready')
      loaded.resolve()
      onChange()
    },
    onExit(reason) {
      if (llama.status().state !== 'closed') childLog.error({ reason }, 'engine child ended')
      onChange()
    },
    onOutput: (line) => childLog.warn({ line }, 'engine output'),
  })
  const engine = withAdmission(llama, { waitingMax: config.server.waitingRequestsMax })
  return { llama, engine, weightsPath, isPlaceholder: weightsPath === placeholderPath, models, loaded: loaded.promise }
}

function toLoadSettings({ engine }: Config, weightsPath: string): LlamaEngineOptions['settings'] {
  const { reproducible: isReproducible, ...settings } = engine
  return { ...settings, weightsPath, isReproducible }
}

/** The catalog's entries: each model with the engine that answers for it. */
export function toCatalogEntries(config: Config, engines: readonly RunningEngine[]): CatalogEntry[] {
  return modelIds.flatMap((id) => {
    const running = engines.find(({ models }) => models.includes(id))
    return running === undefined ? [] : [{ model: describeServedModel(id, config.models[id]), engine: running.engine }]
  })
}
