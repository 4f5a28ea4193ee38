import type { Engine } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import { modelIdsByStrength, type ServedModel } from '../core/model.ts'

export type CatalogEntry = { readonly model: ServedModel; readonly engine: Engine }

/** The models on offer, the default one first, each with the engine that answers for it. */
export interface Catalog {
  /** Throws `model-not-found` for any name that is not exactly one of the ids. */
  find(id: string): CatalogEntry
  list(): readonly CatalogEntry[]
}

export function createCatalog(entries: readonly CatalogEntry[]): Catalog {
  const describe = ({ model, engine }: CatalogEntry): CatalogEntry => {
    const { windowTokens } = engine.status()
    if (windowTokens === null || windowTokens >= model.windowTokens) return { model, engine }
    const outputTokensMax = Math.min(model.outputTokensMax, windowTokens)
    return { model: { ...model, windowTokens, outputTokensMax }, engine }
  }
  return {
    find(id) {
      const entry = entries.find(({ model }) => model.id === id)
      if (entry !== undefined) return describe(entry)
      throw new ApiError(
        { code: 'model-not-found', model: id, available: modelIdsByStrength },
        'The model does not exist.',
      )
    },
    list: () => entries.map(describe),
  }
}
