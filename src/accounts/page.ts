import { sql } from 'kysely'
import { invalidRequest } from '../core/error.ts'

/** Part of a list, oldest first. */
export type Page<Item> = {
  readonly items: readonly Item[]
  /** Where the next page begins; null after the last one. */
  readonly next: string | null
}

export type PageRequest = { readonly cursor?: string; readonly limit?: number }

type RowCursor = { readonly created_at: number; readonly id: string }

const limitDefault = 50
const limitMax = 200

/** One more than asked for, so that it shows whether there is a next page. */
export function rowsToRead({ limit = limitDefault }: PageRequest): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw invalidRequest(['limit'], 'value', `limit must be a whole number from 1 to ${limitMax}.`)
  }
  return limit + 1
}

/** The condition for rows behind the cursor. */
export function afterCursor({ cursor }: PageRequest) {
  if (cursor === undefined) return sql<boolean>`1 = 1`
  const { created_at, id } = decodeCursor(cursor)
  return sql<boolean>`(created_at, id) > (${created_at}, ${id})`
}

export function toPage<Row extends RowCursor, Item>(
  rows: readonly Row[],
  { limit = limitDefault }: PageRequest,
  toItem: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next = rows.length > limit && last !== undefined ? encodeCursor(last) : null
  return { items: shown.map(toItem), next }
}

function encodeCursor({ created_at, id }: RowCursor): string {
  return Buffer.from(`${created_at} ${id}`).toString('base64url')
}

function decodeCursor(cursor: string): RowCursor {
  const parts = /^(\d{1,15}) (\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (parts === null) throw invalidRequest(['cursor'], 'value', 'This is no cursor that a list has given.')
  return { created_at: Number(parts[1]), id: parts[2] ?? '' }
}
