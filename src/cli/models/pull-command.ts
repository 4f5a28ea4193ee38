import { join } from 'node:path'
import { loadConfig, loadHubSettings } from '../../config/load.ts'
import type { ChosenWeights } from '../../config/weights-map.ts'
import { systemClock } from '../../lib/clock.ts'
import { freeBytes } from '../../models/download/disk-room.ts'
import { DownloadError, describeFault, resumable } from '../../models/download/download-error.ts'
import { defaultRetryPolicy } from '../../models/download/retry.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { isSha256 } from '../../models/download/fetch-file.ts'
import { fetchWeights, type WantedWeights } from '../../models/download/fetch-weights.ts'
import { createProgress } from './progress.ts'
import { requireModel } from './require-model.ts'
import { requireOpenChoice, useWeights } from './use-weights.ts'
import { parseWeightsSource, WeightsSourceError, type WeightsSource } from '../../models/download/weights-source.ts'

const options = {
  hub: { type: 'string' },
  sha256: { type: 'string' },
  'no-use': { type: 'boolean', default: false },
} as const

/** A full disk stops the service, which answers nothing that it cannot record. */
const spareBytes = 512 * 1024 * 1024

/** `odyssey models pull`: fetches weights, checks them and gives them to a model. */
export async function pullCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: 2 })
  const [name, sourceText] = positionals
  const model = requireModel(name)
  if (sourceText === undefined) throw new UsageError('models pull takes a model and a source.')
  const config = loadConfig()
  if (!values['no-use']) requireOpenChoice(config, model)
  const hub = loadHubSettings()
  const address = values.hub ?? hub.address
  const source = readSource(sourceText, address)
  const givenSha256 = readGivenHash(values.sha256, source.files.length)
  const wanted = {
    source,
    hub: { ...hub, address },
    folder: join(config.home, 'weights'),
    home: config.home,
    givenSha256,
  }
  const chosen = await fetchUntilStopped(wanted, model)
  if (chosen === null) return
  console.log(values['no-use'] ? `Fetched: ${chosen.weights}` : await useWeights(config, model, chosen))
}

function readSource(text: string, hubAddress: string): WeightsSource {
  try {
    return parseWeightsSource(text, hubAddress)
  } catch (error) {
    throw error instanceof WeightsSourceError ? new UsageError(error.message) : error
  }
}

function readGivenHash(text: string | undefined, fileCount: number): string | null {
  if (text === undefined) return null
  if (fileCount > 1) throw new UsageError('--sha256 is for weights in one file; parts are checked against the hub.')
  if (!isSha256(text.toLowerCase())) throw new UsageError('--sha256 takes 64 hexadecimal digits.')
  return text.toLowerCase()
}

/** Null when the operator stopped it, which is no failure but no success either. */
async function fetchUntilStopped(wanted: WantedWeights, model: string): Promise<ChosenWeights | null> {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  const { stderr } = process
  const progress = createProgress({
    write: (text) => void stderr.write(text),
    isTerminal: stderr.isTTY,
    clock: systemClock,
  })
  const parts = { progress, freeBytes, spareBytes, retryPolicy: defaultRetryPolicy, clock: systemClock }
  try {
    return await fetchWeights({ ...parts, signal: stopped.signal }, wanted)
  } catch (error) {
    progress.end()
    if (error instanceof DownloadError) throw new Error(describeFault(error, model), { cause: error })
    if (!stopped.signal.aborted) throw error
    progress.say(`Stopped. ${resumable}`)
    // What shells report of a command that Ctrl-C has ended.
    process.exitCode = 130
    return null
  } finally {
    process.removeListener('SIGINT', stop)
    process.removeListener('SIGTERM', stop)
  }
}
