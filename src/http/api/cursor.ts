import { invalidRequest } from '../../core/error.ts'
import { seal, unseal } from '../../lib/seal.ts'
import type { PageQuery } from './schemas.ts'

/** A place in a list as text that only this service reads. */
export function encodeCursor(...place: readonly (number | string)[]): string {
  return Buffer.from(place.join(' ')).toString('base64url')
}

/** Whole numbers, as many as are expected; throws for anything else. */
export function decodeNumbers(cursor: string, count: number): number[] {
  const parts = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (parts.length === count && parts.every((part) => /^\d{1,15}$/.test(part))) return parts.map(Number)
  throw noCursor()
}

/**
 * As `encodeCursor`, of numbers that nobody outside is to read, such as the ledger's sequence: two of them tell how much
 * the whole installation was used meanwhile.
 */
export function sealCursor(key: Uint8Array, list: string, numbers: readonly number[]): string {
  return Buffer.from(seal(key, list, numbers.join(' ')), 'base64').toString('base64url')
}

/** Throws for a cursor that was not made for this list. */
export function unsealCursor(key: Uint8Array, list: string, cursor: string): number[] {
  try {
    return unseal(key, list, cursor).split(' ').map(Number)
  } catch {
    throw noCursor()
  }
}

export function noCursor(): Error {
  return invalidRequest(['after'], 'value', 'This is no cursor that a list has given.')
}

/**
 * A page of a list that is whole in memory, in the order of the items' keys.
 *
 * Keys are unique and never change, so what is added or removed meanwhile moves nothing else.
 */
export function pageOfAll<Item>(
  items: readonly Item[],
  { limit, after }: PageQuery,
  keyOf: (item: Item) => string,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const start = after === undefined ? '' : decodeKey(after)
  const rest = items
    .filter((item) => keyOf(item) > start)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const shown = rest.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown, next: rest.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null }
}

/** An id, after the times it is sorted by. */
const keyShape = /^(?:\d{15}-)*[a-z]+_\w{1,64}$/

function decodeKey(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString()
  if (keyShape.test(key) && encodeCursor(key) === cursor) return key
  throw noCursor()
}
