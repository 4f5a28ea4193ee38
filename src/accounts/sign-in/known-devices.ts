// Browsers in which somebody has signed in before. Each says so itself, by a cookie that this service alone can have
// written: its own token, and a tag for each person who has signed in in it. An address may go over to somebody else, who
// has not.

import type { UserId } from '../../core/ids.ts'
import { hashKey } from '../key-format.ts'
import { createToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'

type DeviceParts = Pick<SignInParts, 'hashSecret' | 'device'>

/** Of more people who share a browser it forgets who has been away longest. */
const tagsMax = 5
const cookieShape = /^[\w-]{43}(?:\.[\da-f]{32}){1,5}$/

/** Whether it may be what a browser keeps; the tags say the rest. */
export function isDevice(text: string): boolean {
  return cookieShape.test(text)
}

/** The browser that asks, where this person has signed in in it; null for any other, and for nobody. */
export function knownDevice(parts: DeviceParts, userId: UserId | null): string | null {
  const { id, tags } = read(parts)
  return id !== null && userId !== null && tags.includes(tagOf(parts, id, userId)) ? id : null
}

/** What the browser keeps from now on, in which this person has just signed in. */
export function rememberDevice(parts: DeviceParts, userId: UserId): string {
  const { id, tags } = read(parts)
  const device = id ?? createToken()
  const tag = tagOf(parts, device, userId)
  return [device, tag, ...tags.filter((other) => other !== tag).slice(0, tagsMax - 1)].join('.')
}

function read({ device }: DeviceParts): { readonly id: string | null; readonly tags: readonly string[] } {
  const [id = null, ...tags] = device?.split('.') ?? []
  return { id, tags }
}

function tagOf({ hashSecret }: DeviceParts, id: string, userId: UserId): string {
  return hashKey(hashSecret, `device ${id} of ${userId}`).slice(0, 32)
}
