import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKey } from '../../accounts/api-keys.ts'
import { listApiKeys } from '../../accounts/read-api-keys.ts'
import { codeOf } from '../../lib/message-of.ts'
import type { Installation } from './open-installation.ts'

/** Where an installation's first key went. */
export type FirstKey =
  /** There are keys, and the file is gone or was never made. */
  | { readonly kind: 'none' }
  | { readonly kind: 'shown'; readonly key: string }
  | { readonly kind: 'written'; readonly path: string }
  /** A file of that name is there already, so no key was made. */
  | { readonly kind: 'in-the-way'; readonly path: string }
  /** There are keys, and nobody has moved the file away. */
  | { readonly kind: 'left'; readonly path: string }

const operator = { kind: 'operator' } as const

/** Makes a key where there is none yet: for a terminal to show, or else in a file, as logs are read by many and kept for long. */
export async function makeFirstKey(
  installation: Pick<Installation, 'accounts' | 'home'>,
  { folder, isTerminal }: { readonly folder: string; readonly isTerminal: boolean },
): Promise<FirstKey> {
  const { accounts, home } = installation
  const path = join(folder, 'first-api-key')
  const { organizationId } = home
  const keys = await listApiKeys(accounts, operator, { organizationId, limit: 1 })
  if (keys.items.length > 0) return existsSync(path) ? { kind: 'left', path } : { kind: 'none' }
  const create = async () => (await createApiKey(accounts, operator, { name: 'First key', ...home })).key
  return isTerminal ? { kind: 'shown', key: await create() } : writeKey(path, create)
}

/** The file is made before the key: one that nobody can ever read would only stand in the way of the next attempt. */
async function writeKey(path: string, create: () => Promise<string>): Promise<FirstKey> {
  const file = openNew(path)
  if (file === null) return { kind: 'in-the-way', path }
  try {
    writeSync(file, `${await create()}\n`)
    fsyncSync(file)
    return { kind: 'written', path }
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

function openNew(path: string): number | null {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null
    throw error
  }
}
