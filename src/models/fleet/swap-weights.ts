import type { Config } from '../../config/schema.ts'
import { writeChosenWeights, type ChosenWeights } from '../../config/weights-map.ts'
import type { ModelId } from '../../core/model.ts'
import { inspectWeights } from '../../engines/llama/gguf/inspect-weights.ts'
import type { SwitchableCatalog } from '../catalog.ts'
import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { EnginePool } from './engine-pool.ts'
import { lackOfMemory, mayUseDevice, readMemory } from './memory-room.ts'
import { builtInPath } from '../weights/model-weights.ts'
import type { RunningEngine } from './start-engine.ts'
import { canAnswer, type Engine, runAlone } from '../../core/engine.ts'
import { leastRequest } from '../../core/least-request.ts'

export type SwapParts = { readonly config: Config; readonly pool: EnginePool; readonly catalog: SwitchableCatalog }

/** Which model is to have which weights; null are those that come with Odyssey. */
export type Swap = { readonly model: ModelId; readonly chosen: ChosenWeights | null }

/** The largest weights come from slow disks. */
const loadMsMax = 1_800_000

/**
 * Gives a model other weights while it serves.
 *
 * They are loaded beside the old ones and have to answer once; then the choice
 * is written down, and from one request to the next the new ones answer. The
 * old ones end when their last answer is finished. Whatever fails before leaves
 * all as it was. Returns what to tell the operator.
 */
export async function swapWeights({ config, pool, catalog }: SwapParts, { model, chosen }: Swap): Promise<string> {
  if (config.weightsChoices[model] === 'config-file') {
    throw new Error(`${config.configPath} names weights for ${model}, which win. Change or remove them there.`)
  }
  const path = chosen?.weights ?? builtInPath
  const { bytes } = inspectWeights(path)
  const serving = pool.find(path)
  const isServing = serving !== null && canAnswer(serving.engine.status().state)
  if (!isServing) requireMemory(config, pool, bytes)
  const running = pool.hold(path)
  try {
    if (!isServing) await getReady(running)
    writeChosenWeights(config.home, model, chosen)
  } catch (error) {
    pool.release(running)
    throw error
  }
  catalog.switchEngine(model, running)
  pool.assign(model, running)
  return describe(running)
}

function requireMemory({ engine }: Config, pool: EnginePool, newBytes: number): void {
  if (mayUseDevice(engine.gpu)) return
  // One that runs on the same path was loaded from a file that has been replaced, and is still in memory.
  const loadedBytes = pool.list().reduce((sum, { file }) => sum + file.bytes, 0)
  const lack = lackOfMemory(newBytes, loadedBytes, readMemory())
  if (lack !== null) throw new Error(lack)
}

async function getReady(running: RunningEngine): Promise<void> {
  await untilLoaded(running)
  try {
    await selfCheck(running.engine)
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(`The engine loads the weights and cannot answer with them. ${reason}`, { cause: error })
  }
}

async function untilLoaded({ loaded, failed }: RunningEngine): Promise<void> {
  let cancel = () => {}
  const waited = new Promise<string>((resolve) => {
    cancel = systemClock.after(loadMsMax, () => resolve(`Loading took longer than ${loadMsMax / 60_000} minutes.`))
  })
  try {
    const failure = await Promise.race([loaded, failed, waited])
    if (typeof failure === 'string') throw new Error(`The engine cannot load the weights. ${failure}${advice(failure)}`)
  } finally {
    cancel()
  }
}

/** What a driver says of its memory does not say that other weights are still in it. */
function advice(failure: string): string {
  if (!/memory|vram|alloc/i.test(failure)) return ''
  return ' If they do not fit beside those that are loaded, stop the service, run this command again and start it.'
}

function describe({ engine }: RunningEngine): string {
  const { slots, windowTokens, features } = engine.status()
  const tools = features.has('tools') ? '' : '; they cannot call tools'
  return `${slots ?? '?'} slots, window ${windowTokens?.toLocaleString('en-US') ?? '?'} tokens${tools}`
}

/** A first token may need all weights read from a slow disk. */
const answerMsMax = 300_000

/** Whoever answers it has a template, a context and a sampler that work. */
const request = leastRequest('Hello')

/** Has an engine generate one token. Throws when it cannot. */
export async function selfCheck(engine: Engine): Promise<void> {
  for await (const event of runAlone(engine, request, AbortSignal.timeout(answerMsMax))) {
    if (event.type === 'finish') return
  }
  throw new Error('The engine ended its answer without finishing it.')
}
