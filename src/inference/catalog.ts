import type { Engine } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import { modelIds, type ModelId, type ServedModel } from '../core/model.ts'

export type CatalogEntry = { readonly model: ServedModel; readonly engine: Engine }

/** The models on offer, each with the engine that answers for it. */
export interface Catalog {
  /** Throws `model-not-found` for any name that is not exactly one of the ids. */
  find(id: string): CatalogEntry
  /** In the order they are listed, the default one first. */
  list(): readonly CatalogEntry[]
}

export function createCatalog(entries: Readonly<Record<ModelId, CatalogEntry>>): Catalog {
  const describe = ({ model, engine }: CatalogEntry): CatalogEntry => {
    const { windowTokens } = engine.status()
    if (windowTokens === null || windowTokens >= model.windowTokens) return { model, engine }
    const outputTokensMax = Math.min(model.outputTokensMax, windowTokens)
    return { model: { ...model, windowTokens, outputTokensMax }, engine }
  }
  return {
    find(id) {
      const known = modelIds.find((modelId) => modelId === id)
      if (known === undefined) {
        throw new ApiError(
          { code: 'model-not-found', model: id, available: ['hal-1.0', 'clarke-1.0', 'tycho-1.0'] },
          'The model does not exist.',
        )
      }
      return describe(entries[known])
    },
    list: () => modelIds.map((id) => describe(entries[id])),
  }
}
