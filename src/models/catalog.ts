import type { Engine, EngineStatus } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import { modelIdsByStrength, type ModelId, type ServedModel } from '../core/model.ts'
import type { SlotQueue } from '../scheduling/slot-queue.ts'

/** An engine, and the queue for its slots, which several models may share. */
export type Lane = { readonly engine: Engine; readonly queue: SlotQueue }

/** How an engine stands. Who waits for its slots stands in the queue and not in the engine. */
export function statusOf({ engine, queue }: Lane): EngineStatus {
  return { ...engine.status(), running: queue.running, waiting: queue.waiting }
}

export type CatalogEntry = Lane & { readonly model: ServedModel }

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
  switchEngine(id: ModelId, lane: Lane): void
}

export function createCatalog(entries: readonly CatalogEntry[]): SwitchableCatalog {
  const lanes = new Map<ModelId, Lane>(entries.map((entry) => [entry.model.id, entry]))
  const describe = ({ model, ...first }: CatalogEntry): CatalogEntry => {
    const { engine, queue } = lanes.get(model.id) ?? first
    const { windowTokens } = engine.status()
    if (windowTokens === null || windowTokens >= model.windowTokens) return { model, engine, queue }
    const outputTokensMax = Math.min(model.outputTokensMax, windowTokens)
    return { model: { ...model, windowTokens, outputTokensMax }, engine, queue }
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
    switchEngine(id, lane) {
      lanes.set(id, lane)
    },
  }
}
