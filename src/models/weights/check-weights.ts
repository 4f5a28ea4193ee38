import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readWeightsMap } from '../../config/weights-map.ts'
import type { Config } from '../../config/schema.ts'
import type { Weights } from '../../engines/llama/gguf/inspect-weights.ts'
import { hashOffThread, inspectOffThread } from '../../engines/llama/weights-check/check-off-thread.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Progress } from '../download/fetch-file.ts'
import { builtInPath } from './model-weights.ts'
import { isSameStamp, readDigests, stampOf, writeDigest, type FileStamp, type KnownDigest } from './weights-digests.ts'

export type WeightsCheckParts = {
  readonly config: Pick<Config, 'home' | 'engine'>
  /** The first file. */
  readonly path: string
  log(): Log
  /** Writes down nothing of what was found, and does not hash what nothing is known of. */
  readonly changesNothing?: true
  /** Told how far the content of a file has been hashed, where somebody waits for that. */
  readonly progress?: Pick<Progress, 'begin' | 'report'> | null
}

/** A line in the log for each of these that was hashed: every few seconds from a fast disk. */
const saidEveryBytes = 4 * 1024 ** 3

/**
 * Makes the check of weights that comes before each load: that their headers are sound, and that their content is what
 * it must be. Resolves with what the headers say; rejects with what is wrong, in words for the operator.
 *
 * Content is hashed where it is not known yet or its file was touched since; else it is known from before.
 */
export function createWeightsCheck(parts: WeightsCheckParts): (signal: AbortSignal) => Promise<Weights> {
  const refusals = new Map<string, { readonly stamp: FileStamp; readonly reason: string }>()
  const checkFile = async (path: string, signal: AbortSignal) => {
    const stamp = stampOf(path)
    const refused = refusals.get(path)
    if (refused !== undefined && isSameStamp(refused.stamp, stamp)) throw new Error(refused.reason)
    const reason = await checkContent(parts, { path, stamp, signal })
    if (reason === null) return
    refusals.set(path, { stamp, reason })
    throw new Error(reason)
  }
  return async (signal) => {
    const weights = await inspectOffThread(parts.path, signal)
    for (const path of weights.paths) await checkFile(path, signal)
    return weights
  }
}

type Checked = { readonly path: string; readonly stamp: FileStamp; readonly signal: AbortSignal }

/** Says what is wrong with a file's content, or null. */
async function checkContent(parts: WeightsCheckParts, { path, stamp, signal }: Checked): Promise<string | null> {
  const { config, log, changesNothing } = parts
  const known = readDigests(config.home)[path] ?? null
  const expected = expectedDigest(config.home, path, known)
  if (isHashNeedless(parts, { known, expected, stamp })) return null
  const sha256 = await hash(path, { stamp, signal }, parts)
  if (!isSameStamp(stampOf(path), stamp)) return `${path} is still being written.`
  const fault = expected === null ? judgeChange(path, { sha256, stamp }, known) : judgeExpected(path, sha256, expected)
  if (fault !== null) return fault
  if (known !== null && known.sha256 !== sha256) log().warn('weights were replaced since they were last loaded')
  if (!changesNothing) remember(config.home, { path, sha256, stamp, origin: expected?.origin ?? 'operator' }, log)
  return null
}

type Compared = { readonly known: KnownDigest | null; readonly expected: Expected | null; readonly stamp: FileStamp }

function isHashNeedless({ config, changesNothing }: WeightsCheckParts, { known, expected, stamp }: Compared): boolean {
  if (known === null) return changesNothing === true && expected === null
  const isKnown = isSameStamp(known.stamp, stamp) && (expected === null || expected.sha256 === known.sha256)
  return isKnown && config.engine.weightsCheck === 'changed'
}

function judgeExpected(path: string, sha256: string, expected: Expected): string | null {
  if (sha256 === expected.sha256) return null
  const difference = `its sha256 is ${sha256} and not ${expected.sha256}, as ${expected.authority}`
  return `${path} is damaged or another file: ${difference}. ${expected.remedy}`
}

/** Operators replace their files as they like; but what nobody wrote does not change. */
function judgeChange(
  path: string,
  { sha256, stamp }: Omit<KnownDigest, 'origin'>,
  known: KnownDigest | null,
): string | null {
  if (known === null || known.sha256 === sha256) return null
  if (known.stamp.size !== stamp.size || known.stamp.mtimeNs !== stamp.mtimeNs) return null
  return (
    `${path} is damaged: its content has changed since it was last loaded, and its date has not. ` +
    'If you changed it yourself, choose it again with "odyssey models use", or touch it.'
  )
}

type Expected = Pick<KnownDigest, 'sha256' | 'origin'> & { readonly authority: string; readonly remedy: string }

const asFetched = {
  origin: 'fetched',
  authority: 'it was fetched',
  remedy:
    'Fetch it again with "odyssey models pull"; if you replaced it yourself, choose it with "odyssey models use".',
} as const

/** What a file's sha256 must be; null for one that the operator brought. */
function expectedDigest(home: string, path: string, known: KnownDigest | null): Expected | null {
  if (path === builtInPath) {
    const [sha256 = ''] = readFileSync(path.replace(/\.gguf$/, '.sha256'), 'utf8').split(' ')
    return { sha256, origin: 'fetched', authority: 'it comes with Odyssey', remedy: 'Install Odyssey again.' }
  }
  // The choice of a model comes first: another file that was fetched into the place of its own is not what was chosen.
  for (const { weights, sha256 } of Object.values(readWeightsMap(home))) {
    if (weights === path && sha256 !== null) return { sha256, ...asFetched }
  }
  return known?.origin === 'fetched' ? { sha256: known.sha256, ...asFetched } : null
}

async function hash(path: string, { stamp, signal }: Omit<Checked, 'path'>, parts: WeightsCheckParts): Promise<string> {
  const { log, progress } = parts
  const totalBytes = Number(stamp.size)
  let saidBytes = 0
  const say = (bytes: number) => log().info({ bytes, total_bytes: totalBytes }, 'checking the content of weights')
  if (totalBytes >= saidEveryBytes) say(0)
  progress?.begin(`Checking ${basename(path)}`)
  progress?.report(0, totalBytes)
  const sha256 = await hashOffThread(path, signal, (bytes) => {
    progress?.report(bytes, totalBytes)
    if (bytes - saidBytes < saidEveryBytes) return
    saidBytes = bytes
    say(bytes)
  })
  progress?.report(totalBytes, totalBytes)
  return sha256
}

function remember(home: string, { path, ...digest }: KnownDigest & { readonly path: string }, log: () => Log): void {
  try {
    writeDigest(home, path, digest)
  } catch (error) {
    // Without it the next start hashes once more, which is no reason not to serve.
    log().warn({ error }, 'the digest of weights cannot be written down')
  }
}
