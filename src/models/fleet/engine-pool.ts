import { ConfigError } from '../../config/config-error.ts'
import type { Config } from '../../config/schema.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { pause, systemClock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { cacheShareDefault, readMemory } from './memory-room.ts'
import { readFileState, resolveWeights } from '../weights/model-weights.ts'
import { startEngine, type RunningEngine } from './start-engine.ts'

export type PoolOptions = {
  readonly config: Config
  readonly log: Log
}

/** A request that has already looked its engine up has certainly begun by then. */
const graceMs = 1_000

/**
 * The engines that run, one for each file of weights whatever the number of models it answers for.
 *
 * An engine lives while someone holds it: a model, or a swap that gets it ready.
 * Let go of, it finishes what it has begun and ends.
 */
export class EnginePool {
  readonly #options: PoolOptions
  readonly #holds = new Map<RunningEngine, number>()
  readonly #byModel = new Map<ModelId, RunningEngine>()
  /** The waiting for the last answer of engines that nobody holds; taken again, an engine is no longer in here. */
  readonly #retirements = new Map<RunningEngine, symbol>()
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Starts what the configuration names. A file that is missing is a fault of the configuration. */
  startAll(): void {
    const { config } = this.#options
    const ids = modelIds.filter((id) => config.models[id].pool === null)
    const paths = ids.map((id) => [id, resolveWeights(config, id).path] as const)
    const missing = new Set(paths.map(([, path]) => path).filter((path) => readFileState(path) === null))
    if (missing.size > 0) throw new ConfigError([...missing].map((path) => `There is no weights file at ${path}.`))
    for (const [id, path] of paths) this.assign(id, this.hold(path))
  }

  /** The engine of a file, which is started unless it runs already. Whoever asks must assign or release it. */
  hold(weightsPath: string): RunningEngine {
    if (this.#isClosed) throw new Error('The service stops.')
    const running = this.find(weightsPath) ?? this.#start(weightsPath)
    this.#holds.set(running, (this.#holds.get(running) ?? 0) + 1)
    this.#retirements.delete(running)
    this.#shareCache()
    return running
  }

  /** The engine that runs on a file as it is now. */
  find(weightsPath: string): RunningEngine | null {
    const identity = readFileState(weightsPath)?.identity
    return this.list().find(({ file }) => file.identity === identity) ?? null
  }

  /** Hands a held engine to a model; the one that the model had is let go of. */
  assign(id: ModelId, running: RunningEngine): void {
    const previous = this.#byModel.get(id)
    this.#byModel.set(id, running)
    if (previous !== undefined) this.#letGo(previous, () => this.#retire(previous))
  }

  /** Gives a held engine back that no model is to have. */
  release(running: RunningEngine): void {
    this.#letGo(running, () => (running.engine.uses > 0 ? this.#retire(running) : this.#end(running)))
  }

  /** Null for a model that a pool of replicas answers for. */
  of(id: ModelId): RunningEngine | null {
    return this.#byModel.get(id) ?? null
  }

  list(): readonly RunningEngine[] {
    return [...this.#holds.keys()]
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.list().map(({ engine }) => engine.close()))
  }

  #start(weightsPath: string): RunningEngine {
    const { config, log } = this.#options
    const file = readFileState(weightsPath)
    if (file === null) throw new Error(`There is no weights file at ${weightsPath}.`)
    const running = startEngine({
      config,
      weightsPath,
      file,
      log: () => log.child({ models: this.#modelsOf(running) }),
    })
    return running
  }

  /** What the prompts of all engines may take in memory is one number, whatever the number of engines. */
  #shareCache(): void {
    const { cacheBytesMax } = this.#options.config.engine
    const bytesMax = cacheBytesMax ?? readMemory().totalBytes / cacheShareDefault
    const engines = [...this.#holds].map(([{ engine }, holds]) => ({ engine, isHeld: holds > 0 }))
    for (const { engine, bytes } of shareCache(engines, bytesMax)) engine.resizeCache(bytes)
  }

  #modelsOf(running: RunningEngine): ModelId[] {
    return [...this.#byModel].filter(([, other]) => other === running).map(([id]) => id)
  }

  #letGo(running: RunningEngine, end: () => Promise<void>): void {
    const holds = (this.#holds.get(running) ?? 0) - 1
    this.#holds.set(running, holds)
    this.#shareCache()
    if (holds > 0 || this.#isClosed) return
    end().catch((error: unknown) => this.#options.log.error({ error }, 'an engine could not be ended'))
  }

  /** Waits until the last answer is finished, or long enough, and ends an engine that nobody took again meanwhile. */
  async #retire(running: RunningEngine): Promise<void> {
    const { config, log } = this.#options
    const retirement = Symbol('retirement')
    this.#retirements.set(running, retirement)
    await pause(systemClock, graceMs)
    log.info({ under_way: running.engine.uses }, 'old weights finish what they have begun')
    await Promise.race([running.engine.whenUnused(), pause(systemClock, config.server.swapDrainSeconds * 1_000)])
    if (this.#retirements.get(running) === retirement) await this.#end(running)
  }

  async #end(running: RunningEngine): Promise<void> {
    this.#holds.delete(running)
    this.#retirements.delete(running)
    await running.engine.close()
    this.#options.log.info('weights are unloaded')
  }
}

export type Sharer<Engine> = { readonly engine: Engine; readonly isHeld: boolean }

/**
 * Divides the room for prompts among the engines: evenly among those that somebody holds.
 *
 * One that only finishes what it has begun is given none, and gives up its room before the others
 * grow: no further prompt comes to it.
 */
export function shareCache<Engine>(
  engines: readonly Sharer<Engine>[],
  bytesMax: number,
): { readonly engine: Engine; readonly bytes: number }[] {
  const held = engines.filter(({ isHeld }) => isHeld).length
  const share = Math.floor(bytesMax / Math.max(1, held))
  return engines
    .map(({ engine, isHeld }) => ({ engine, bytes: isHeld ? share : 0 }))
    .toSorted((a, b) => a.bytes - b.bytes)
}
