import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { writeChosenWeights, type ChosenWeights } from '../../config/weights-map.ts'
import type { ModelId } from '../../core/model.ts'
import { lockHome } from '../../db/lock-home.ts'
import { inspectWeights } from '../../engines/llama/gguf/inspect-weights.ts'
import { readStatus } from '../../service/status/status-file.ts'
import { askService } from './ask-service.ts'
import { makeHome } from '../../service/joins/make-home.ts'

/** Throws where the config file names a model's weights: a choice by command would change nothing. */
export function requireOpenChoice({ weightsChoices, configPath, models }: Config, model: ModelId): void {
  if (weightsChoices[model] !== 'config-file') return
  throw new Error(
    `${configPath} names weights for ${model} (${models[model].weights ?? ''}), which win. ` +
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
    if (!isServiceRunning(config.home)) {
      writeChosenWeights(config.home, model, chosen)
      // A service that starts at this very moment either finds the choice or is found here.
      if (!isServiceRunning(config.home)) return `${model} will run ${what} when the service starts.`
    }
    const result = await askService(config.home, { model, chosen })
    return `${model} runs ${what}: ${result}.`
  } finally {
    unlock()
  }
}

/** The lock tells for certain; the status file alone may be that of a killed service whose number another process has. */
function isServiceRunning(home: string): boolean {
  if (readStatus(home) === null) return false
  const unlock = lockHome(join(home, 'serve.lock'))
  unlock?.()
  return unlock === null
}
