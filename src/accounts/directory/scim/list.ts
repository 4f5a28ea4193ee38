// Lists of users and groups: a page of all, or of those that a filter chooses.

import { invalidValue } from './fault.ts'
import { matches, type Filter } from './filter.ts'
import type { Resource } from './resource.ts'
import type { ResourceType } from './schema.ts'

/** How many resources one answer has at most. */
export const countMax = 200
const countDefault = 100
/** How many rows are looked through at a time. */
const portion = 500

export type ListRequest = {
  readonly filter: Filter | null
  /** The first is 1. */
  readonly startIndex: number
  readonly count: number
}

export type Listed = {
  readonly totalResults: number
  readonly startIndex: number
  readonly resources: readonly Resource[]
}

/** Reads where a page begins and how long it is, as texts of an address or numbers of a body. Less than the least is the least. */
export function readPage(startIndex: unknown, count: unknown): Pick<ListRequest, 'startIndex' | 'count'> {
  const start = readInteger('startIndex', startIndex, 1)
  const wanted = readInteger('count', count, countDefault)
  return { startIndex: Math.max(1, start), count: Math.min(countMax, Math.max(0, wanted)) }
}

function readInteger(name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  const text = String(value as string)
  if (!/^-?\d{1,15}$/.test(text)) throw invalidValue(name, 'is a whole number')
  return Number(text)
}

/** A column with an index, and what it has to be for a filter to choose a row. */
export type Narrowing<Column extends string> = { readonly column: Column; readonly value: string }

/** Finds an equality that a filter demands of one of these attributes, by which few rows are left to look through. */
export function narrow<Column extends string>(
  filter: Filter | null,
  columns: Readonly<Record<string, { readonly column: Column; readonly isCaseExact: boolean }>>,
): Narrowing<Column> | null {
  const sides = filter === null ? [] : filter.kind === 'and' ? filter.sides : [filter]
  for (const side of sides) {
    if (side.kind !== 'compare' || side.operator !== 'eq' || typeof side.value !== 'string') continue
    const { schema, name, part } = side.path
    const known = Object.entries(columns).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
    // No database keeps a text with this in it.
    if (schema !== null || part !== null || known === undefined || side.value.includes('\u0000')) continue
    return { column: known.column, value: known.isCaseExact ? side.value : side.value.toLowerCase() }
  }
  return null
}

export type Slice = { readonly offset: number; readonly limit: number }

/** Where resources come from, in the order in which they were made. */
export type Source<Column extends string, Row> = {
  count(narrowing: Narrowing<Column> | null): Promise<number>
  read(narrowing: Narrowing<Column> | null, slice: Slice): Promise<readonly Row[]>
  /** With all that a filter may ask for. */
  show(rows: readonly Row[]): Promise<readonly Resource[]>
}

export async function listResources<Column extends string, Row>(
  type: ResourceType,
  source: Source<Column, Row>,
  { filter, startIndex, count, narrowing }: ListRequest & { readonly narrowing: Narrowing<Column> | null },
): Promise<Listed> {
  if (filter === null) {
    const totalResults = await source.count(null)
    const rows = count === 0 ? [] : await source.read(null, { offset: startIndex - 1, limit: count })
    return { totalResults, startIndex, resources: await source.show(rows) }
  }
  const chosen: Resource[] = []
  let totalResults = 0
  for (let offset = 0; ; offset += portion) {
    const rows = await source.read(narrowing, { offset, limit: portion })
    for (const resource of await source.show(rows)) {
      if (!matches(type, filter, resource)) continue
      totalResults += 1
      if (totalResults >= startIndex && chosen.length < count) chosen.push(resource)
    }
    if (rows.length < portion) return { totalResults, startIndex, resources: chosen }
  }
}
