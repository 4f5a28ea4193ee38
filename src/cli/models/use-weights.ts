import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { writeChosenWeights, type ChosenWeights } from '../../config/weights-map.ts'
import type { ModelId } from '../../core/model.ts'
import { lockHome } from '../../db/lock-home.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'
import { inspectWeights } from '../../engines/llama/gguf/inspect-weights.ts'
import { findRunningService, type RunningService } from '../running-service.ts'
import { pause, systemClock } from '../../lib/clock.ts'
import type { WeightsSwap } from '../../http/api/engine-schemas.ts'
import { makeHome } from '../../service/joins/make-home.ts'

/** Throws where the config file names a model's weights: a choice by command would change nothing. */
export function requireOpenChoice({ weightsChoices, configPath, models }: Config, model: ModelId): void {
  if (weightsChoices[model] !== 'config-file') return
  const { pool, weights } = models[model]
  if (pool !== null) throw new Error(`${configPath} names the pool ${pool} for ${model}, which wins.`)
  throw new Error(
    `${configPath} names weights for ${model} (${weights ?? ''}), which win. ` +
      'Remove them there and restart the service; then this command decides.',
  )
}

/**
 * Gives a model weights: at once where the service runs, else from its next start.
 *
 * A file that is no whole GGUF never gets further than this, and one that the
 * running service cannot load leaves all as it was. Returns what to tell.
 */
export async function useWeights(config: Config, model: ModelId, chosen: ChosenWeights | null): Promise<string> {
  if (chosen !== null) inspectWeights(chosen.weights)
  makeHome(config)
  const unlock = lockHome(join(config.home, 'models.lock'))
  if (unlock === null) throw new Error('Another command is changing the models at this moment. Try again after it.')
  try {
    const what = chosen?.weights ?? 'the weights that come with Odyssey'
    let service = await findRunningService(config.home)
    if (service === null) {
      writeChosenWeights(config.home, model, chosen)
      // A service that starts at this very moment either finds the choice or is found here.
      service = await findRunningService(config.home)
      if (service === null) return `${model} will run ${what} when the service starts.`
    }
    const result = await swapWeights(service, { model, chosen })
    return `${model} runs ${what}: ${result}.`
  } finally {
    unlock()
  }
}

const pollMs = 100

/** Waits until the service has swapped; how long loading takes is its to limit. Throws its reason when it keeps the old weights. */
async function swapWeights(service: RunningService, swap: Swap): Promise<string> {
  let progress = await service.startSwap(swap)
  while (progress.state === 'waiting' || progress.state === 'under-way') {
    await pause(systemClock, pollMs)
    progress = await readProgress(service, progress.id)
  }
  if (progress.state === 'refused') throw new Error(`${swap.model} keeps its weights. ${progress.message}`)
  return progress.message
}

async function readProgress(service: RunningService, id: string): Promise<WeightsSwap> {
  try {
    return await service.readSwap(id)
  } catch (error) {
    throw new Error('The service ended meanwhile. "odyssey models" shows which weights it will start with.', {
      cause: error,
    })
  }
}
