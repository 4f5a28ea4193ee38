import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { hasNvidiaCard, missingForCuda, nvidiaDriver } from '../../engines/llama/nvidia-card.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { messageOf } from '../../lib/message-of.ts'
import { probeFolder } from '../../lib/probe-folder.ts'
import { findAccessFault } from '../../lib/system/access-fault.ts'
import { lackOfMemory, mayUseDevice, readMemory } from '../../models/fleet/memory-room.ts'
import type { Progress } from '../../models/download/fetch-file.ts'
import { createWeightsCheck } from '../../models/weights/check-weights.ts'
import { resolveWeights } from '../../models/weights/model-weights.ts'
import { createLog } from '../../telemetry/log.ts'
import { listOpenFiles } from '../joins/home-files.ts'
import { requireCacheFolder } from '../joins/make-home.ts'
import { fault, fine, warning, type Finding } from './finding.ts'

/** The ledger, the audit and a backup of them need room; below the first the service may have to stop within hours. */
const freeBytes = { least: 500e6, comfortable: 2e9 }

/** Examines the data folder: whether this user may use it, whom else it lets in, and the room on its disk. */
export function examineFolder({ home }: Pick<Config, 'home'>): readonly Finding[] {
  try {
    probeFolder(home)
    if (!existsSync(home))
      return [warning('data folder', `${home} does not exist yet.`, 'The first "odyssey serve" makes it.')]
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const todo = findAccessFault([home], 'write')?.todo ?? 'Give it to this user, or set ODYSSEY_HOME to another one.'
    return [fault('data folder', `${home} cannot be used: ${messageOf(error)}.`, todo)]
  }
  return [examineModes(home), examineDisk(home)]
}

function examineModes(home: string): Finding {
  const about = 'data folder'
  if ((statSync(home).mode & 0o077) === 0) return fine(about, `${home} is for its own user alone.`)
  const open = listOpenFiles(home).map(({ path }) => path)
  const says = `${home} lets other users in.`
  if (open.length === 0) return warning(about, says, `Its files do not, but close it too: chmod 700 ${home}`)
  const names = open.map((path) => basename(path)).join(', ')
  const todo = `Close it: chmod 700 ${home} && chmod go= ${open.join(' ')}`
  return warning(about, `${says} So do its files ${names}.`, todo)
}

function examineDisk(home: string): Finding {
  const { bavail, bsize } = statfsSync(home)
  const free = bavail * bsize
  const says = `${formatBytes(free)} are free on the disk of the data folder.`
  if (free < freeBytes.least) return fault('disk', says, 'Make room: without any the service stops answering.')
  if (free < freeBytes.comfortable) return warning('disk', says, 'Make room before the ledger and a backup need it.')
  return fine('disk', says)
}

/** Examines the folder in which prompts are kept over a restart. Nothing is said where none is named. */
export function examineCacheFolder(config: Config): readonly Finding[] {
  if (config.engine.cacheFolder === null) return []
  try {
    requireCacheFolder(config)
    return [fine('prompt folder', `${config.engine.cacheFolder} can be used for prompts.`)]
  } catch (error) {
    return [fault('prompt folder', messageOf(error), 'The service does not start with it.')]
  }
}

/** Examines the weights of each model, and whether all of them fit into memory together. Null is told of no progress. */
export async function examineWeights(config: Config, progress: Progress | null): Promise<readonly Finding[]> {
  const byPool = Map.groupBy(modelIds, (id) => config.models[id].pool)
  const byPath = Map.groupBy(byPool.get(null) ?? [], (id) => resolveWeights(config, id).path)
  const pooled = [...byPool].flatMap(([pool, ids]) => {
    return pool === null ? [] : [fine('weights', `${ids.join(', ')}: none here, the pool ${pool} answers.`)]
  })
  const files: { finding: Finding; bytes: number }[] = []
  for (const [path, ids] of byPath) files.push(await examineFile({ config, progress }, path, ids))
  progress?.end()
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return [...files.map(({ finding }) => finding), ...pooled, examineMemory(config, bytes)]
}

async function examineFile(
  { config, progress }: { readonly config: Config; readonly progress: Progress | null },
  path: string,
  ids: readonly ModelId[],
): Promise<{ finding: Finding; bytes: number }> {
  const names = ids.join(', ')
  const check = createWeightsCheck({ config, path, log: () => createLog('silent'), changesNothing: true, progress })
  try {
    const { bytes } = await check(new AbortController().signal)
    const isBuiltIn = ids.some((id) => resolveWeights(config, id).isBuiltIn)
    const finding = isBuiltIn
      ? warning(
          'weights',
          `${names}: the starter weights, which are for trying things out.`,
          'Give each model weights of your choice: "odyssey models pull MODEL SOURCE".',
        )
      : fine('weights', `${names}: ${path}, ${formatBytes(bytes)}.`)
    return { finding, bytes }
  } catch (error) {
    const todo = 'Fetch it again with "odyssey models pull", or name another one with "odyssey models use".'
    return { finding: fault('weights', `${names}: ${messageOf(error)}`, todo), bytes: 0 }
  }
}

/** What a service that runs has loaded is not available any more, so only what the machine has altogether counts. */
function examineMemory({ engine }: Pick<Config, 'engine'>, bytes: number): Finding {
  const { totalBytes } = readMemory()
  const says = `${formatBytes(totalBytes)} of memory, and ${formatBytes(bytes)} of weights.`
  const isTooLittle = lackOfMemory(bytes, 0, { totalBytes, availableBytes: totalBytes }) !== null
  if (!isTooLittle) return fine('memory', says)
  if (mayUseDevice(engine.gpu)) return warning('memory', says, 'They must fit into the memory of the graphics card.')
  return fault('memory', says, 'Choose smaller weights, or a machine with more memory.')
}

/** Examines what the engine needs of a card by NVIDIA. Nothing is said of a machine that has none and of other makers' cards. */
export function examineCard({
  engine,
  childEnvironment,
}: Pick<Config, 'engine' | 'childEnvironment'>): readonly Finding[] {
  if (!hasNvidiaCard()) return []
  const about = 'graphics card'
  if (engine.gpu === 'off')
    return [
      warning(
        about,
        "NVIDIA's driver is there, and engine.gpu is off.",
        'Take the setting out to compute on the card.',
      ),
    ]
  if (engine.gpu === 'vulkan') return []
  const missing = missingForCuda(childEnvironment)
  if (missing.length === 0) return [examineDriver(about)]
  const findings: Finding[] = []
  if (missing.includes('build')) {
    const help = 'Start with ODYSSEY_GPU=cuda, which installs it.'
    findings.push(warning(about, "The engine's build for CUDA was not installed.", help))
  }
  const libraries = missing.filter((one) => one !== 'build')
  if (libraries.length > 0) {
    const says = `NVIDIA's driver is there, and these libraries are not found: ${libraries.join(', ')}.`
    findings.push(warning(about, says, librariesHelp))
  }
  return findings
}

const librariesHelp =
  "Install CUDA's runtime and cuBLAS of version 13, or of 12, or name their folder in LD_LIBRARY_PATH. Without them the processor computes."

/** The engine's build has machine code for some cards; for all others the driver makes it, from a form that older ones do not know. */
const driverForAllCards = 590

function examineDriver(about: string): Finding {
  const version = nvidiaDriver()
  const says = `NVIDIA's driver${version === null ? '' : ` ${version}`}, CUDA and the engine's build for them are there.`
  if (version === null || version >= driverForAllCards) return fine(about, says)
  return warning(
    about,
    says,
    `Cards other than RTX 30, 40 and 50 need driver ${driverForAllCards} or newer; with this one the processor computes.`,
  )
}
