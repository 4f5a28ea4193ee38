import type { Engine } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import { modelIdsByStrength, type ModelId, type ServedModel } from '../core/model.ts'

export type CatalogEntry = { readonly model: ServedModel; readonly engine: Engine }

/** The models on offer, the default one first, each with the engine that answers for it. */
export interface Catalog {
  /**
   * Throws `model-not-found` for any name that is not exactly one of the ids.
   *
   * An entry is for the request at hand: the model's next one may be another engine's.
   */
  find(id: string): CatalogEntry
  list(): readonly CatalogEntry[]
}

/** A catalog whose models can be given to other engines while requests come in. */
export type SwitchableCatalog = Catalog & {
  /** From now on this engine answers for the model; what the old one has begun it finishes. */
  switchEngine(id: ModelId, engine: Engine): void
}

export function createCatalog(entries: readonly CatalogEntry[]): SwitchableCatalog {
  const engines = new Map(entries.map(({ model, engine }) => [model.id, engine]))
  const describe = ({ model, engine: first }: CatalogEntry): CatalogEntry => {
    const engine = engines.get(model.id) ?? first
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
    switchEngine(id, engine) {
      engines.set(id, engine)
    },
  }
}
