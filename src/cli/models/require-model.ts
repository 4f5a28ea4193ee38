import { modelIds, modelIdsByStrength, type ModelId } from '../../core/model.ts'
import { UsageError } from '../usage-error.ts'

/** The model that a command line names. */
export function requireModel(name: string | undefined): ModelId {
  const id = modelIds.find((known) => known === name)
  if (id !== undefined) return id
  const fault = name === undefined ? 'A model is missing' : `There is no model ${name}`
  throw new UsageError(`${fault}; there are ${modelIdsByStrength.join(', ')}.`)
}
