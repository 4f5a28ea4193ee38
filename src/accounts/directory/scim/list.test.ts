import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { parseFilter } from './filter.ts'
import { listResources, type ListRequest } from './list.ts'
import { users } from './schema.ts'

/** So many users, of whom each third has a title; the source tells what was read of it. */
function createSource(users: number) {
  const rows = Array.from({ length: users }, (_, number) => ({
    userName: `user-${number}`,
    ...(number % 3 === 0 && { title: 'Third' }),
  }))
  return {
    count: () => Promise.resolve(rows.length),
    read: (_: unknown, { offset, limit }: { readonly offset: number; readonly limit: number }) =>
      Promise.resolve(rows.slice(offset, offset + limit)),
    show: (some: typeof rows) => Promise.resolve(some),
  }
}

async function list(size: number, { filter, ...page }: Omit<ListRequest, 'filter'> & { readonly filter: string }) {
  const request = { ...page, filter: filter === '' ? null : parseFilter(users, filter), narrowing: null }
  const { totalResults, resources } = await listResources(users, createSource(size), request)
  return { totalResults, names: resources.map(({ userName }) => userName) }
}

test('a filter finds everybody whom it fits, however many rows there are', async () => {
  for (const [size, found] of [
    [0, 0],
    [499, 167],
    [500, 167],
    [501, 167],
    [1_000, 334],
    [1_300, 434],
  ] as const) {
    const { totalResults } = await list(size, { filter: 'title pr', startIndex: 1, count: 10 })
    equal(totalResults, found, String(size))
  }
})

test('a page of those whom a filter fits has as many as are asked for, from the one that is asked for', async () => {
  const page = (startIndex: number, count: number) => list(1_300, { filter: 'title pr', startIndex, count })
  const name = (place: number) => `user-${(place - 1) * 3}`
  deepEqual((await page(1, 2)).names, [name(1), name(2)])
  deepEqual((await page(167, 3)).names, [name(167), name(168), name(169)], 'They are of two portions.')
  deepEqual((await page(433, 5)).names, [name(433), name(434)])
  deepEqual(await page(435, 5), { totalResults: 434, names: [] })
  deepEqual(await page(1, 0), { totalResults: 434, names: [] })
})

test('a page of everybody is as long as is asked for, and none at all for a count of 0', async () => {
  deepEqual(await list(5, { filter: '', startIndex: 4, count: 3 }), { totalResults: 5, names: ['user-3', 'user-4'] })
  deepEqual(await list(5, { filter: '', startIndex: 1, count: 0 }), { totalResults: 5, names: [] })
})
