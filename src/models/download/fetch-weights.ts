import { createHash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { HubSettings } from '../../config/load.ts'
import type { ChosenWeights } from '../../config/weights-map.ts'
import { lockHome } from '../../db/lock-home.ts'
import { inspectWeights } from '../../engines/llama/gguf/inspect-weights.ts'
import { DiskRoom } from './disk-room.ts'
import { type Remote, describeFailure, openRemote } from './open-remote.ts'
import { bareTag, readSize } from './remote-facts.ts'
import { stampOf, writeDigest } from '../weights/weights-digests.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { fetchFile, isSha256, type FetchParts, type WantedFile } from './fetch-file.ts'
import type { SourceFile, WeightsSource } from './weights-source.ts'
import type { Clock } from '../../lib/clock.ts'
import { Interruption } from './download-error.ts'
import { retry, type RetryPolicy } from './retry.ts'

export type WantedWeights = {
  readonly source: WeightsSource
  readonly hub: HubSettings
  /** The folder of all weights. */
  readonly folder: string
  /** The data folder, where it is written down what was fetched. */
  readonly home: string
  readonly givenSha256: string | null
}

/** Fetches weights, in several parts where they come so, and makes sure that they are whole. */
export async function fetchWeights(parts: FetchParts, wanted: WantedWeights): Promise<ChosenWeights> {
  const { source, folder } = wanted
  const unlock = lockDownload(folder, source)
  try {
    const files = await describeFiles(parts, wanted)
    if (files.length > 1) await requireRoom(parts, folder, files)
    const hashes: string[] = []
    for (const file of files) hashes.push(await fetchFile(parts, file))
    for (const [index, { path }] of files.entries()) rememberFetched(wanted.home, path, hashes[index] ?? '')
    const [path = ''] = files.map((file) => file.path)
    const { bytes } = inspectWeights(path)
    parts.progress.say(`${path} is whole (${formatBytes(bytes)}).`)
    for (const [index, file] of files.entries()) parts.progress.say(describeHash(file, hashes[index] ?? ''))
    return { weights: path, source: source.name, sha256: hashes.length === 1 ? (hashes[0] ?? null) : null }
  } finally {
    unlock()
  }
}

/** The service then need not hash it again, and knows what it must be for good. */
function rememberFetched(home: string, path: string, sha256: string): void {
  writeDigest(home, path, { sha256, origin: 'fetched', stamp: stampOf(path) })
}

/** Two processes that write one file would both believe in what the other has written. */
function lockDownload(folder: string, { name }: WeightsSource): () => void {
  const locks = join(folder, '.locks')
  mkdirSync(locks, { recursive: true, mode: 0o700 })
  const unlock = lockHome(join(locks, createHash('sha256').update(name).digest('hex').slice(0, 16)))
  if (unlock === null) throw new Error(`Another command is fetching ${name} at this moment.`)
  return unlock
}

type DescribedFile = WantedFile & { readonly bytes: number | null }

async function describeFiles(parts: FetchParts, wanted: WantedWeights): Promise<DescribedFile[]> {
  const { source } = wanted
  const described: DescribedFile[] = []
  let commit: string | null = null
  for (const file of source.files) {
    const remote = toRemote(file, commit, wanted)
    const description = await describeRemote(remote, parts)
    described.push(describeFile(file, { remote, description }, wanted))
    // Parts of different commits would be a model that nobody has made.
    if (source.isHub && source.files.length > 1) commit ??= readCommit(description)
  }
  return described
}

function describeFile(
  { name, path }: SourceFile,
  { remote, description }: { readonly remote: Remote; readonly description: RemoteDescription },
  { source, folder, givenSha256 }: WantedWeights,
): DescribedFile {
  const { announced, bytes } = description
  const tag = announced.get('x-linked-etag') ?? (source.isHub ? announced.get('etag') : null)
  const hubSha256 = tag !== null && isSha256(bareTag(tag)) ? bareTag(tag) : null
  if (givenSha256 !== null && hubSha256 !== null && givenSha256 !== hubSha256) {
    throw new Error(`The sha256 of ${name} is ${hubSha256}, says the hub, and not ${givenSha256}. Nothing was fetched.`)
  }
  return { remote, name, path: join(folder, path), givenSha256, hubSha256, bytes }
}

function toRemote(file: SourceFile, commit: string | null, { source, hub }: WantedWeights): Remote {
  const credentials = hub.token === null ? null : { origin: new URL(hub.address).origin, token: hub.token }
  return { url: file.url(source.isHub ? commit : null), credentials }
}

function readCommit({ announced }: RemoteDescription): string | null {
  const commit = announced.get('x-repo-commit')
  return commit !== null && /^[0-9a-f]{40}$/.test(commit) ? commit : null
}

/** Asked for all parts at once: running out of room after three of four helps nobody. */
async function requireRoom(parts: FetchParts, folder: string, files: readonly DescribedFile[]): Promise<void> {
  const missing = files.map(({ path, bytes }) => Math.max(0, (bytes ?? 0) - bytesThere(path)))
  const room = new DiskRoom({ ...parts, path: join(folder, 'weights') })
  await room.require(missing.reduce((sum, bytes) => sum + bytes, 0))
}

function bytesThere(path: string): number {
  const sizes = [path, `${path}.part`].map((name) => statSync(name, { throwIfNoEntry: false })?.size ?? 0)
  return Math.max(...sizes)
}

function describeHash({ path, givenSha256, hubSha256 }: DescribedFile, sha256: string): string {
  const authority = givenSha256 !== null ? 'as you said' : hubSha256 !== null ? 'as the hub says' : null
  return authority === null
    ? `Its sha256 is ${sha256}. There was nothing to check it against.`
    : `The sha256 of ${basename(path)} is ${authority}: ${sha256}`
}

export type RemoteDescription = {
  readonly bytes: number | null
  /** Everything the first server said. */
  readonly announced: Headers
}

/** Nothing is lost by giving up early: no byte has been fetched. */
const triesMax = 3

/**
 * Asks what a server has to say of a file, without fetching it.
 *
 * Some servers answer such questions with an error and yet have the file; then
 * nothing is known, and the fetching will show.
 */
export async function describeRemote(
  remote: Remote,
  {
    retryPolicy,
    clock,
    signal,
  }: { readonly retryPolicy: RetryPolicy; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<RemoteDescription> {
  const ask = async (): Promise<RemoteDescription> => {
    const stalled = new AbortController()
    const cancel = clock.after(retryPolicy.idleMs, () => stalled.abort(noAnswer(remote, retryPolicy)))
    try {
      const signals = AbortSignal.any([signal, stalled.signal])
      const { status, headers, announced } = await openRemote(remote, { method: 'HEAD', signal: signals })
      const linked = readSize(announced.get('x-linked-size'))
      const own = status === 200 ? readSize(headers.get('content-length')) : null
      return { bytes: linked ?? own, announced }
    } catch (error) {
      throw stalled.signal.aborted ? stalled.signal.reason : describeFailure(error, remote.url)
    } finally {
      cancel()
    }
  }
  return retry(ask, {
    retryPolicy: { ...retryPolicy, triesMax: Math.min(retryPolicy.triesMax, triesMax) },
    clock,
    signal,
    host: remote.url.host,
    hasContact: () => false,
    hasProgressed: () => false,
    onPause: () => {},
  })
}

/** Whether a firewall swallows the question or the server is at a loss, nothing is to be had there now. */
function noAnswer({ url: { host } }: Remote, { idleMs }: RetryPolicy): Interruption {
  return new Interruption(`${host} has not answered for ${idleMs / 1_000} s.`, { unreachableHost: host })
}
