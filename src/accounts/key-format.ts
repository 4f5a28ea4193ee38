import { createHash, createHmac, type KeyObject } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { alphabet, randomId } from '../lib/random-id.ts'

/** Keys that ask models, keys that manage, tokens of directories and of coding agents: none is taken for another. */
const prefixes = { api: 'sk-ody-', management: 'sk-odym-', directory: 'sk-odyd-', agent: 'sk-odya-' } as const
export type KeyKind = keyof typeof prefixes

const secretLength = 32
const checksumLength = 6
const shapes = {
  api: shapeOf('api'),
  management: shapeOf('management'),
  directory: shapeOf('directory'),
  agent: shapeOf('agent'),
} as const

/** A new key: its prefix, 32 random characters (190 bits) and a checksum of those in 6 characters. */
export function createKey(kind: KeyKind = 'api'): string {
  const secret = randomId(secretLength)
  return `${prefixes[kind]}${secret}${checksum(secret)}`
}

/** Tells a key from a typing error or a guess without asking the database. */
export function isWellFormedKey(key: string, kind: KeyKind = 'api'): boolean {
  if (!shapes[kind].test(key)) return false
  const secret = key.slice(prefixes[kind].length, prefixes[kind].length + secretLength)
  return key.endsWith(checksum(secret))
}

/** The key is random, so one round of a keyed hash is as hard to reverse as many. */
export function hashKey(hashSecret: Uint8Array | KeyObject, key: string): string {
  return createHmac('sha256', hashSecret).update(key).digest('hex')
}

/** Keys of other gateways that begin like ours are none: no typing error in one of ours is looked up. */
const foreignShape = /^sk-(?!ody[mda]?-)[\x21-\x7e]{1,200}$/

/** Whether it may be a key that another gateway has made, as their clients send them. */
export function isForeignKey(key: string): boolean {
  return foreignShape.test(key)
}

/**
 * As `hashKey`, for a key of which another gateway kept the SHA-256 alone, in hexadecimal.
 *
 * Under the install's secret it is worth nothing to whoever reads the database, as some of those keys were chosen by
 * people and could be guessed.
 */
export function hashForeignKey(hashSecret: Uint8Array | KeyObject, sha256: string): string {
  return hashKey(hashSecret, `sha256 ${sha256}`)
}

const agentTokenMark = 'agent token '

/** What stands in the database for the token of a coding agent, which tells it from the hash of a key. */
export function hashAgentToken(hashSecret: Uint8Array | KeyObject, token: string): string {
  return `${agentTokenMark}${hashKey(hashSecret, token)}`
}

export function isAgentTokenHash(hash: string): boolean {
  return hash.startsWith(agentTokenMark)
}

/** What stands in the database for a key or a token that somebody shows, of ours or of another gateway's; null for what is none. */
export function hashShownKey(hashSecret: Uint8Array | KeyObject, key: string): string | null {
  if (isWellFormedKey(key)) return hashKey(hashSecret, key)
  if (isWellFormedKey(key, 'agent')) return hashAgentToken(hashSecret, key)
  return isForeignKey(key) ? hashForeignKey(hashSecret, createHash('sha256').update(key).digest('hex')) : null
}

/** What may be shown of a key that was refused. */
export function maskKey(key: string): string {
  return key.length < 12 ? '***' : `${key.slice(0, 5)}***${key.slice(-3)}`
}

function shapeOf(kind: KeyKind): RegExp {
  return new RegExp(`^${prefixes[kind]}[0-9A-Za-z]{${secretLength + checksumLength}}$`)
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let digits = ''
  for (let place = 0; place < checksumLength; place++) {
    digits = `${alphabet[rest % 62]}${digits}`
    rest = Math.floor(rest / 62)
  }
  return digits
}
