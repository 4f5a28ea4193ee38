import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { modelIdsByStrength } from '../../core/model.ts'
import { describeServedModel } from '../../models/served-models.ts'
import type { ServiceStatus } from '../../service/status/status-file.ts'
import type { OfferedModel } from './connection.ts'

/** The models as this machine's service offers them, the strongest first. */
export function modelsOfService(config: Config, status: ServiceStatus | null): OfferedModel[] {
  return modelIdsByStrength.map((id) => {
    const model = describeServedModel(id, config.models[id])
    const loaded = status?.models.find((entry) => entry.id === id)
    // The small window of what comes with Odyssey would stay in the settings when other weights have taken its place.
    return loaded === undefined || loaded.isBuiltIn ? model : withWindow(model, loaded.windowTokens)
  })
}

const listSchema = z.object({
  data: z.array(z.object({ id: z.string(), max_input_tokens: z.number(), max_tokens: z.number() })),
})

/** Long enough for an address on the other side of the world. */
const listMsMax = 10_000

/** The same models with the sizes that the service at an address tells; as they were where it tells none. */
export async function withSizesAt(models: OfferedModel[], address: string, key: string): Promise<OfferedModel[]> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${address}/v1/models`, { headers, signal: AbortSignal.timeout(listMsMax) })
    const { data } = listSchema.parse(await response.json())
    return models.map((model) => {
      const told = data.find(({ id }) => id === model.id)
      if (told === undefined) return model
      return { ...model, windowTokens: told.max_input_tokens, outputTokensMax: told.max_tokens }
    })
  } catch {
    // Whatever is wrong with the address or the key, the proof says it better.
    return models
  }
}

function withWindow(model: OfferedModel, windowTokens: number): OfferedModel {
  return { ...model, windowTokens, outputTokensMax: Math.min(model.outputTokensMax, windowTokens) }
}
