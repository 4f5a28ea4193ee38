import { createHmac } from 'node:crypto'
import type { Config } from '../../config/schema.ts'
import { modelIds } from '../../core/model.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { ServiceStatus } from './status-file.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import type { RunningEngine } from '../../models/fleet/start-engine.ts'

/** The models with what is loaded for them, for the operator alone. */
export function describeModels(catalog: Catalog, pool: EnginePool): ServiceStatus['models'] {
  return catalog.list().map(({ model }) => {
    const { weightsPath, file, isBuiltIn, engine } = pool.of(model.id)
    const { state, slots } = engine.status()
    return {
      id: model.id,
      weights: weightsPath,
      weightsBytes: file.bytes,
      isBuiltIn,
      state,
      windowTokens: model.windowTokens,
      slots,
      enginePid: engine.pid,
      reason: state === 'ready' ? null : engine.reason,
    }
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
    const { thinking, outputTokensMax } = models[id]
    const { weightsPath, file } = pool.of(id)
    return [thinking, outputTokensMax, weightsPath, file.bytes, file.changedMs]
  })
  const revision = JSON.stringify([files, engine])
  return `fp_${createHmac('sha256', key).update(revision).digest('hex').slice(0, 10)}`
}
