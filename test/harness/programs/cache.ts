// Weights, programs and collections that tests need and this repository does not hold. They lie in a cache outside it,
// are fetched once, and are never committed.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hashFile } from '../../../src/lib/hash-file.ts'

/** This machine cannot have something; the message says in a line what is missing. */
export class Missing extends Error {
  override readonly name = 'Missing'
}

/** Where all of it is kept: `ODYSSEY_TEST_CACHE`, or a folder for caches in the user's own. */
export function cacheFolder(): string {
  const folder = process.env['ODYSSEY_TEST_CACHE'] ?? join(homedir(), '.cache', 'odyssey-tests')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Fetches something in a folder of its own, which is gone afterwards; what is to stay is renamed out of it. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(cacheFolder(), 'fetching-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Throws `Missing` where a file has another content than the one that is meant. */
export async function checkFile(path: string, sha256: string): Promise<void> {
  const found = await hashFile(path, new AbortController().signal)
  if (found !== sha256) throw new Missing(`${path} has the sha256 ${found} instead of ${sha256}.`)
}

/** Has whatever keeps some work from being done be `Missing` with this message. */
export async function orMissing<Result>(message: string, work: Promise<Result>): Promise<Result> {
  return work.catch((cause: unknown) => {
    throw new Missing(message, { cause })
  })
}
