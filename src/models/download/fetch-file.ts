import { existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { inspectFile } from '../../engines/llama/gguf/inspect-weights.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DiskRoomOptions } from './disk-room.ts'
import { downloadPart } from './download-part.ts'
import { hashFile } from '../../lib/hash-file.ts'
import type { Remote } from './open-remote.ts'
import { commitPart, discardPart } from './part-file.ts'
import type { RetryPolicy } from './retry.ts'
import { messageOf } from '../../lib/message-of.ts'

/** Where a download tells how far it is. */
export interface Progress {
  /** Begins something new. */
  begin(label: string): void
  report(bytes: number, totalBytes: number | null): void
  /** A line of its own. */
  say(text: string): void
  /** Leaves the changing line. */
  end(): void
}

/** What all files of one fetching share. */
export type FetchParts = Pick<DiskRoomOptions, 'freeBytes' | 'spareBytes'> & {
  readonly retryPolicy: RetryPolicy
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly progress: Progress
}

export type WantedFile = {
  readonly remote: Remote
  readonly name: string
  readonly path: string
  /** What the operator says that the file's sha256 is. */
  readonly givenSha256: string | null
  /** What the hub has said so far. */
  readonly hubSha256: string | null
}

/**
 * Fetches one file, checks it and gives it its name. Returns its sha256.
 *
 * Until it is checked it has another name, so that whatever goes wrong touches
 * neither a file that was there before nor the engine that runs on it.
 */
export async function fetchFile(parts: FetchParts, wanted: WantedFile): Promise<string> {
  const { progress } = parts
  const { path, name } = wanted
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const present = await hashPresent(parts, wanted)
  if (present !== null) return present
  progress.begin(basename(path))
  const { linkedTag } = await downloadPart({
    ...parts,
    ...wanted,
    source: name,
    onProgress: (bytes, totalBytes) => progress.report(bytes, totalBytes),
    onPause: (reason, pauseMs) => progress.say(`${reason} Going on in ${(pauseMs / 1_000).toFixed(1)} s.`),
  })
  const sha256 = await hash(parts, `${path}.part`)
  // The hub's latest word counts: the file may have been replaced since it was first asked.
  const hubSha256 = linkedTag !== null && isSha256(linkedTag) ? linkedTag : wanted.hubSha256
  await check({ ...wanted, hubSha256 }, sha256)
  await commitPart(path)
  return sha256
}

/** The hash of the file when it is there already and the right one; null when it has to be fetched. */
async function hashPresent(parts: FetchParts, { path, ...wanted }: WantedFile): Promise<string | null> {
  const expected = wanted.givenSha256 ?? wanted.hubSha256
  if (expected === null || !existsSync(path)) return null
  const isRight = (await hash(parts, path)) === expected
  if (isRight) parts.progress.say(`${path} is there already.`)
  return isRight ? expected : null
}

async function hash({ progress, signal }: FetchParts, path: string): Promise<string> {
  const { size } = statSync(path)
  progress.begin(`Checking ${basename(path)}`)
  const sha256 = await hashFile(path, signal, (bytes) => progress.report(bytes, size))
  progress.end()
  return sha256
}

/** Throws, and deletes what was fetched, when it is not what it should be. */
async function check({ path, name, givenSha256, hubSha256 }: WantedFile, sha256: string): Promise<void> {
  const expected = givenSha256 ?? hubSha256
  try {
    // Before anything reads the file: what a header says is only to be believed of the right file.
    if (expected !== null && sha256 !== expected) {
      const authority = givenSha256 === null ? 'the hub says' : 'you said'
      throw new Error(
        `${name} is damaged or another file: its sha256 is ${sha256} and not, as ${authority}, ${expected}.`,
      )
    }
    inspectFile(`${path}.part`)
  } catch (error) {
    await discardPart(path)
    const reason = messageOf(error)
    throw new Error(`${reason} What was fetched is deleted; nothing else has changed.`, { cause: error })
  }
}

export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}
