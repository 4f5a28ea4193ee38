import { createHmac } from 'node:crypto'
import { basename, relative, sep } from 'node:path'
import { canAnswer } from '../../core/engine.ts'
import { type ModelId, modelIds } from '../../core/model.ts'
import type { LoadedWeights, Queue } from '../../http/api/engine-schemas.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { EnginePool } from '../../models/fleet/engine-pool.ts'
import type { Config } from '../../config/schema.ts'
import type { RunningEngine } from '../../models/fleet/start-engine.ts'
import { readWeightsMap } from '../../config/weights-map.ts'
import type { FleetControl, PoolsControl } from '../../http/api/parts.ts'
import type { PoolStatus } from '../../http/api/resources/installation/pool-schemas.ts'
import type { PoolReplica } from '../../models/fleet/pools/pool-replica.ts'
import type { Log } from '../../telemetry/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import { loadConfig } from '../../config/load.ts'
import type { RemotePools } from '../../models/fleet/pools/remote-pools.ts'
import type { Fleet, LoadedFile } from '../../http/api/resources/installation/fleet-schemas.ts'
import { readMemory } from '../../models/fleet/memory-room.ts'
import { recommendWeights } from '../../models/jobs/recommended.ts'
import {
  deleteWeightsFile,
  listWeightsFiles,
  type WeightsFile,
  weightsFolderOf,
} from '../../models/jobs/weights-folder.ts'
import { readDigests } from '../../models/weights/weights-digests.ts'

/** The weights that are loaded for each model that has any, for the operator alone. */
export function describeWeights(catalog: Catalog, pool: EnginePool): LoadedWeights[] {
  return catalog.list().flatMap(({ model }) => {
    const running = pool.of(model.id)
    if (running === null) return []
    const { weightsPath, file, isBuiltIn, engine } = running
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
      reason: canAnswer(state) ? null : engine.reason,
    }
  })
}

/** Who waits for each loaded file's slots, in the order in which they will get one. Keys are named by their ids. */
export function describeQueues(pool: EnginePool, pools: RemotePools): Queue[] {
  const files = pool.list().map((running) => {
    return { queue: running.queue, models: modelIds.filter((id) => pool.of(id) === running) }
  })
  return [...files, ...pools.all].map(({ queue, models }) => {
    const { upcoming, ...rest } = queue.status()
    const waiting = upcoming.map((request, index) => ({ position: index + 1, ...request }))
    return { models: [...models], ...rest, upcoming: waiting }
  })
}

/** What a running service shows and does of replicas elsewhere. */
export function openPoolsControl(pools: RemotePools, log: Log): PoolsControl {
  return {
    list: () => pools.all.map(describePool),
    drain(name, address, isDraining) {
      const found = pools.all.find(({ engine }) => engine.name === name)
      found?.engine.replicas.find(({ id }) => id === address)?.drain(isDraining)
    },
    roll(name) {
      void replaceReplicas(pools, name).catch((error: unknown) => {
        log.error({ reason: messageOf(error), pool: name }, 'the replicas of a pool were not all replaced')
      })
    },
  }
}

/** Stops at the first that cannot be replaced, and leaves it and those behind it as they are. */
async function replaceReplicas(pools: RemotePools, name: string): Promise<void> {
  const settings = loadConfig().pools[name]
  if (settings === undefined) throw new Error('The config file has no such pool any more.')
  await pools.roll(name, settings)
}

function describePool({ engine, models }: RemotePools['all'][number]): PoolStatus {
  const { state, windowTokens, waiting } = engine.status()
  const { name, retries, counts } = engine
  return {
    name,
    counts,
    models: [...models],
    state,
    windowTokens,
    waiting,
    retries,
    replicas: engine.replicas.map((replica) => describeReplica(replica, engine.membership.restartsOf(replica))),
  }
}

function describeReplica(
  { id, settings, health, load, remote, isDraining }: PoolReplica,
  restarts: number | null,
): PoolStatus['replicas'][number] {
  const { facts } = remote
  return {
    address: id,
    kind: settings.kind,
    state: isDraining ? 'draining' : health.state,
    reason: isDraining ? null : health.reason,
    running: load.running,
    runningMax: load.runningMax,
    outstandingTokens: load.outstanding,
    roomTokens: Math.round(load.room),
    tokensPerSecond: load.tokensPerSecond,
    hitRate: load.hitRate,
    windowTokens: facts?.windowTokens ?? null,
    version: facts?.version ?? null,
    missing: [...(facts?.missing ?? [])],
    restarts,
  }
}

type FingerprintParts = {
  readonly config: Pick<Config, 'models' | 'engine'> & Partial<Pick<Config, 'pools'>>
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
  let engines: readonly (RunningEngine | null)[] = []
  let latest = ''
  return () => {
    const isSame = engines.length > 0 && modelIds.every((id, index) => pool.of(id) === engines[index])
    if (isSame) return latest
    engines = modelIds.map((id) => pool.of(id))
    latest = fingerprint(parts)
    return latest
  }
}

function fingerprint({ config: { models, engine, pools }, pool, key }: FingerprintParts): string {
  const files = modelIds.map((id) => {
    const { thinking, outputTokensMax, ropeScaling, pool: name } = models[id]
    const running = pool.of(id)
    if (running === null) return [thinking, outputTokensMax, name, name === null ? null : pools?.[name]]
    const { weightsPath, file } = running
    return [thinking, outputTokensMax, ropeScaling, weightsPath, file.bytes, file.changedMs]
  })
  const revision = JSON.stringify([files, engine])
  return `fp_${createHmac('sha256', key).update(revision).digest('hex').slice(0, 10)}`
}

type FleetParts = { readonly config: Config; readonly pool: EnginePool }

/** What a running service shows and does of its loaded files. */
export function openFleetControl(parts: FleetParts): FleetControl {
  const { config } = parts
  const loadedBytes = () => parts.pool.list().reduce((sum, { file }) => sum + file.bytes, 0)
  return {
    read: () => describeFleet(parts),
    files: () => listWeightsFiles(config.home),
    usersOf: (file) => usersOf(parts, file),
    deleteFile: (file) => deleteWeightsFile(config.home, file),
    recommend: () => recommendWeights(loadedBytes(), readMemory()),
    isFixed: (model) => config.weightsChoices[model] === 'config-file',
  }
}

/** Every loaded file with the models it answers for, its slots and who waits for them, and the memory of the machine. */
function describeFleet(parts: FleetParts): Fleet {
  const running = parts.pool.list()
  const weightsBytes = running.reduce((sum, { file }) => sum + file.bytes, 0)
  return { files: running.map((one) => describeFile(parts, one)), memory: { ...readMemory(), weightsBytes } }
}

/** The models that have been given a file, or will have it at the next start. */
function usersOf({ config, pool }: FleetParts, { path }: Pick<WeightsFile, 'path'>): ModelId[] {
  const chosen = readWeightsMap(config.home)
  return modelIds.filter(
    (id) => config.models[id].weights === path || chosen[id]?.weights === path || pool.of(id)?.weightsPath === path,
  )
}

function describeFile({ config, pool }: FleetParts, running: RunningEngine): LoadedFile {
  const { weightsPath, file, isBuiltIn, engine, queue } = running
  const models = modelIds.filter((id) => pool.of(id) === running)
  const { state, slots, windowTokens, features } = engine.status()
  const { upcoming, ...turns } = queue.status()
  return {
    models,
    state,
    reason: canAnswer(state) ? null : engine.reason,
    loading: state === 'loading' ? engine.loading : null,
    weights: {
      name: isBuiltIn ? basename(weightsPath) : nameOf(config, weightsPath),
      bytes: file.bytes,
      sha256: readDigests(config.home)[weightsPath]?.sha256 ?? null,
      isBuiltIn,
      ...choiceOf(config, models, weightsPath),
    },
    windowTokens,
    hasGenericTools: features.has('generic-tools'),
    enginePid: engine.pid,
    ...turns,
    slots: slots ?? turns.slots,
    upcoming: upcoming.map((request, index) => ({ position: index + 1, ...request })),
  }
}

/** A path below the folder of weights is a name; another one is the operator's own, of which the last part is enough. */
function nameOf({ home }: Config, path: string): string {
  const way = relative(weightsFolderOf(home), path)
  return way.startsWith('..') ? basename(path) : way.split(sep).join('/')
}

function choiceOf({ home, weightsChoices }: Config, models: readonly ModelId[], path: string) {
  const fixed = models.filter((id) => weightsChoices[id] === 'config-file')
  const chosen = Object.values(readWeightsMap(home)).find(({ weights }) => weights === path)
  return { source: chosen?.source ?? null, fixedByConfig: fixed }
}
