import { accessSync, constants, readFileSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '../message-of.ts'

/** What keeps this user from a file, and what to do about it. */
export type AccessFault = { readonly says: string; readonly todo: string }

const uses = {
  read: { mode: constants.R_OK, word: 'read' },
  write: { mode: constants.R_OK | constants.W_OK, word: 'written' },
} as const

/** What keeps this user from the first of these files and folders that may not be used so; null where each that is there may be. */
export function findAccessFault(paths: readonly string[], use: keyof typeof uses): AccessFault | null {
  for (const path of paths) {
    try {
      accessSync(path, uses[use].mode)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') continue
      return { says: `${path} cannot be ${uses[use].word}: ${messageOf(error)}.`, todo: advise(path, code) }
    }
  }
  return null
}

/** Whoever owns the folder is the user that the service runs as, whoever has come to own a file in it. */
function advise(path: string, code: string | null): string {
  if (code === 'EROFS') return 'It lies on what is mounted for reading alone: mount that for writing.'
  const self = process.geteuid?.()
  const folder = isFolder(path) ? path : dirname(path)
  const owner = ownerOf(folder)
  if (owner === null) return `Let this user into the folders above ${folder}.`
  if (owner !== self) return `Run this as the user ${nameOf(owner)}, to whom ${folder} belongs.`
  const own = ownerOf(path)
  if (own === null) return `Let its user into the folder: chmod u+rwx ${folder}`
  if (own !== self) return `Give it back to that folder's user: chown ${nameOf(owner)} ${path}`
  return `Let its own user use it: chmod u+rw${folder === path ? 'x' : ''} ${path}`
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() ?? false
}

/** Null where this user cannot find it out. */
function ownerOf(path: string): number | null {
  return statOf(path)?.uid ?? null
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** The name of a user where the system has a list of them, else the number. */
function nameOf(uid: number): string {
  const lines = readUsers().split('\n')
  const [name] = lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid)) ?? []
  return name ?? String(uid)
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}
