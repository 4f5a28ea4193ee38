import { sql, type SelectQueryBuilder } from 'kysely'
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

/** Reads the part of a list that is asked for. The query says which rows the list has. */
export async function readPage<Read, Table extends keyof Read, Row extends RowCursor, Item>(
  query: SelectQueryBuilder<Read, Table, Row>,
  { cursor, limit = limitDefault }: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw invalidRequest(['limit'], 'value', `limit must be a whole number from 1 to ${limitMax}.`)
  }
  const ordered = query.orderBy(sql.ref('created_at')).orderBy(sql.ref('id'))
  const behind = cursor === undefined ? ordered : ordered.where(behindCursor(cursor))
  // One more than asked for shows whether there is a next page. The compiler does not see that these are the query's rows.
  const rows: readonly unknown[] = await behind.limit(limit + 1).execute()
  const shown = rows.slice(0, limit) as readonly Row[]
  const last = shown.at(-1)
  const next = rows.length > limit && last !== undefined ? encodeCursor(last) : null
  return { items: shown.map(toItem), next }
}

function behindCursor(cursor: string) {
  const { created_at, id } = decodeCursor(cursor)
  return sql<boolean>`(created_at, id) > (${created_at}, ${id})`
}

function encodeCursor({ created_at, id }: RowCursor): string {
  return Buffer.from(`${created_at} ${id}`).toString('base64url')
}

function decodeCursor(cursor: string): RowCursor {
  const parts = /^(\d{1,15}) (\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (parts === null) throw invalidRequest(['cursor'], 'value', 'This is no cursor that a list has given.')
  return { created_at: Number(parts[1]), id: parts[2] ?? '' }
}
