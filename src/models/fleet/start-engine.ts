import { resolve } from 'node:path'
import { loadSecrets } from '../../config/load-secret.ts'
import type { RopeScaling } from '../../config/models-schema.ts'
import type { Config } from '../../config/schema.ts'
import type { Engine } from '../../core/engine.ts'
import { memoryBound } from '../../engines/llama/confinement/memory-limit.ts'
import type { ConfinementReport } from '../../engines/llama/confinement/plan.ts'
import type { Weights } from '../../engines/llama/gguf/inspect-weights.ts'
import { keepChildrenCompiled } from '../../engines/llama/keep-children-compiled.ts'
import { LlamaEngine, type LlamaEngineOptions } from '../../engines/llama/llama-engine.ts'
import { slotsDefault, withGuestSlots, type CardsInUse } from '../../engines/llama/ipc.ts'
import { hasNvidiaCard } from '../../engines/llama/nvidia-card.ts'
import { systemClock } from '../../lib/clock.ts'
import { SlotQueue } from '../../scheduling/slot-queue.ts'
import type { Log } from '../../telemetry/log.ts'
import { createWeightsCheck } from '../weights/check-weights.ts'
import { cacheShareDefault, readMemory } from './memory-room.ts'
import { builtInPath, chatOf, ropeScalingOf, type FileState } from '../weights/model-weights.ts'

/** One child process with one file of weights. */
export type RunningEngine = {
  readonly engine: LlamaEngine
  /** Who waits for its slots. */
  readonly queue: SlotQueue
  readonly weightsPath: string
  /** The file as it was when it was loaded. */
  readonly file: FileState
  readonly isBuiltIn: boolean
  /** Resolves when the weights are loaded for the first time. */
  readonly loaded: Promise<void>
  /** Resolves with the reason when the child ends before it was ever ready. */
  readonly failed: Promise<string>
}

export type StartOptions = {
  readonly config: Config
  readonly weightsPath: string
  readonly file: FileState
  /** A log that says whose engine it is, which may change. */
  log(): Log
}

/** The last lines of a child tell best why it failed. */
const linesKept = 3

/** Four times four tokens in a step: beyond that a processor gains nothing any more. */
const draftTokensDefault = 15

export function startEngine({ config, weightsPath, file, log }: StartOptions): RunningEngine {
  const loaded = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<string>()
  const lines: string[] = []
  let hasReported = false
  const settings = toLoadSettings(config, weightsPath)
  const engine = new LlamaEngine({
    settings,
    environment: config.childEnvironment,
    clock: systemClock,
    confinement: config.engine.confinement,
    ...(config.engine.priority === 'high' && { precedence: { onRefused: () => log().warn(priorityRefused) } }),
    // A request may wait for its model as long as for a slot.
    readyWaitMsMax: config.server.queueSecondsMax * 1_000,
    loadingStallMsMax: toMs(config.engine.loadingStallSecondsMax),
    idleMsMax: toMs(config.engine.idleSecondsMax),
    checkWeights: createWeightsCheck({ config, path: weightsPath, log }),
    memoryBytesMax: (weights) => memoryBytesMax(config, weights, settings.ropeScaling ?? null),
    onConfined: (report) => logConfinement(log(), report),
    onReady({ windowTokens, slots, threads, threadsMost, cards, fitness }) {
      log().info({ window_tokens: windowTokens, slots, threads, threads_most: threadsMost }, 'engine ready')
      logCards(log(), config.engine.gpu, cards)
      if (!hasReported) {
        log().info({ ...fitness }, 'chat format')
        // When the machine has nothing to load any more.
        keepChildrenCompiled(config.childEnvironment)
      }
      hasReported = true
      loaded.resolve()
    },
    onAsleep: () => log().info('weights are unloaded until somebody asks for them'),
    onExit(reason) {
      if (engine.status().state !== 'closed') log().error({ reason }, 'engine child ended')
      failed.resolve(lines.length > 0 ? lines.join(' ') : `The engine ended (${reason}).`)
    },
    onOutput(line) {
      log().warn({ line }, 'engine output')
      lines.push(line)
      if (lines.length > linesKept) lines.shift()
    },
  })
  return {
    engine,
    queue: createQueue(config, engine),
    weightsPath,
    file,
    isBuiltIn: weightsPath === builtInPath,
    loaded: loaded.promise,
    failed: failed.promise,
  }
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000
}

function memoryBytesMax({ engine }: Config, weights: Weights, ropeScaling: RopeScaling | null): number {
  if (engine.memoryBytesMax !== null) return engine.memoryBytesMax
  const { totalBytes: machineBytes } = readMemory()
  const { windowTokensMax, cacheBytesMax, kvCacheType } = engine
  return memoryBound({
    weights,
    machineBytes,
    windowTokensMax,
    kvCacheType,
    ropeScaling,
    slots: withGuestSlots(engine.slots ?? slotsDefault),
    cacheBytesMax: cacheBytesMax ?? machineBytes / cacheShareDefault,
  })
}

function logConfinement(log: Log, { inForce, missing }: ConfinementReport): void {
  const layers = inForce.length === 0 ? 'nothing' : inForce.join(', ')
  if (missing.length === 0) log.info(`engine confined: ${layers}`)
  else log.warn({ missing }, `engine confined in part: ${layers}`)
}

/** What computes is not to be told from an answer: a card that is passed over only makes each of them slow. */
function logCards(log: Log, asked: Config['engine']['gpu'], cards: CardsInUse | null): void {
  if (cards !== null) {
    const { kind, names, layers, layersAll } = cards
    log.info({ cards: names, layers, layers_all: layersAll }, `the graphics card computes (${kind})`)
  } else if (asked !== 'off' && hasNvidiaCard()) log.warn(passedOver)
}

const passedOver =
  'there is a graphics card, and the processor computes: "odyssey doctor" says what the card lacks; engine.gpu off says that it is meant so'

const priorityRefused =
  'engine.priority is high, which the system does not let this user have: it takes a limit on nice of -5 (LimitNICE=-5 under systemd), or the capability CAP_SYS_NICE'

/** Where requests wait for an engine's slots. */
export function createQueue({ server }: Config, engine: Engine): SlotQueue {
  return new SlotQueue({
    waitingMax: server.waitingRequestsMax,
    waitingBytesMax: server.waitingBytesMax,
    waitMsMax: server.queueSecondsMax * 1_000,
    clock: systemClock,
    random: Math.random,
    capacity: () => engine.status(),
  })
}

function toLoadSettings(config: Config, weightsPath: string): LlamaEngineOptions['settings'] {
  const { reproducible: isReproducible, speculation, cacheFolder, cacheFolderBytesMax, ...others } = config.engine
  const { gpu, slots, threads, windowTokensMax, batchTokens, kvCacheType } = others
  // The pool shares the room for prompts out among its engines.
  const cacheBytesMax = 0
  const cacheOnDisk =
    cacheFolder === null
      ? null
      : {
          folder: resolve(config.configFolder, cacheFolder),
          bytesMax: cacheFolderBytesMax,
          key: loadSecrets(config.home).promptCacheKey,
        }
  return {
    gpu,
    slots,
    threads,
    windowTokensMax,
    kvCacheType,
    ropeScaling: ropeScalingOf(config, weightsPath),
    chat: chatOf(config, weightsPath),
    batchTokens,
    weightsPath,
    isReproducible,
    cacheBytesMax,
    draftTokensMax: toDraftTokensMax(speculation),
    cacheOnDisk,
  }
}

function toDraftTokensMax(speculation: Config['engine']['speculation']): number {
  if (speculation === 'off') return 0
  return speculation === 'on' ? draftTokensDefault : speculation
}
