import { modelIds } from '../../core/model.ts'
import type { LoadedWeights, Queue } from '../../http/api/engine-schemas.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import { createHmac } from 'node:crypto'
import type { Config } from '../../config/schema.ts'
import type { RunningEngine } from '../../models/fleet/start-engine.ts'

/** The weights that are loaded for each model, for the operator alone. */
export function describeWeights(catalog: Catalog, pool: EnginePool): LoadedWeights[] {
  return catalog.list().map(({ model }) => {
    const { weightsPath, file, isBuiltIn, engine } = pool.of(model.id)
    const { state, slots, features } = engine.status()
    return {
      model: model.id,
      path: weightsPath,
      bytes: file.bytes,
      isBuiltIn,
      state,
      windowTokens: model.windowTokens,
      slots,
      enginePid: engine.pid,
      hasGenericTools: features.has('generic-tools'),
      loading: state === 'loading' ? engine.loading : null,
      reason: state === 'ready' ? null : engine.reason,
    }
  })
}

/** Who waits for each loaded file's slots, in the order in which they will get one. Keys are named by their ids. */
export function describeQueues(pool: EnginePool): Queue[] {
  return pool.list().map((running) => {
    const { upcoming, ...rest } = running.queue.status()
    const waiting = upcoming.map((request, index) => ({ position: index + 1, ...request }))
    return { models: modelIds.filter((id) => pool.of(id) === running), ...rest, upcoming: waiting }
  })
}

type FingerprintParts = {
  readonly config: Pick<Config, 'models' | 'engine'>
  readonly pool: Pick<EnginePool, 'of'>
  readonly key: Uint8Array
}

/**
 * Tells the fingerprint, which changes whenever the deployment may answer differently, and tells nothing else about it.
 *
 * It is keyed: files of weights have known names and sizes, so whoever guesses
 * them could otherwise compute it and see which one it is. Asked for every
 * request, it is computed anew only when a model has another engine than before.
 */
export function createFingerprint(parts: FingerprintParts): () => string {
  const { pool } = parts
  let engines: readonly RunningEngine[] = []
  let latest = ''
  return () => {
    const isSame = engines.length > 0 && modelIds.every((id, index) => pool.of(id) === engines[index])
    if (isSame) return latest
    engines = modelIds.map((id) => pool.of(id))
    latest = fingerprint(parts)
    return latest
  }
}

function fingerprint({ config: { models, engine }, pool, key }: FingerprintParts): string {
  const files = modelIds.map((id) => {
    const { thinking, outputTokensMax, ropeScaling } = models[id]
    const { weightsPath, file } = pool.of(id)
    return [thinking, outputTokensMax, ropeScaling, weightsPath, file.bytes, file.changedMs]
  })
  const revision = JSON.stringify([files, engine])
  return `fp_${createHmac('sha256', key).update(revision).digest('hex').slice(0, 10)}`
}
