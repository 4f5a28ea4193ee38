import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import type { Database } from '../../db/database.ts'
import { toReversal } from '../ledger/ledger.ts'
import { insertRows } from '../ledger/writer/insert-rows.ts'
import { queryUsage, queryUsageTogether } from '../usage/query-usage.ts'
import type { UsageQuery } from '../usage/select-usage.ts'
import { rollUp } from '../usage/roll-up.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { attribute, createEndUserHash } from './attribute.ts'
import { deleteOldAttributions, otherValues, rollUpAttributions, valuesPerDayMax } from './roll-up-attributions.ts'

const hash = createEndUserHash(new Uint8Array(32))
const organizationId = 'org_1'

describe('what is kept of whom a request is for', () => {
  const rules = { endUsers: 'plain', tagKeys: ['team', 'stage'] } as const
  const keep = (
    endUser: string | null,
    metadata: Record<string, string> = {},
    endUsers: 'plain' | 'hashed' | 'off' = 'plain',
  ) => attribute({ endUser, metadata }, { organizationId, rules: { ...rules, endUsers }, hash })

  test('is the name, a hash of it that another organization does not have, or nothing', () => {
    equal(keep('ann').endUser, 'ann')
    equal(keep('ann', {}, 'off').endUser, null)
    const hashed = keep('ann', {}, 'hashed').endUser ?? ''
    match(hashed, /^hash_[\w-]{22}$/)
    equal(hash(organizationId, 'ann'), hashed)
    notEqual(hash('org_2', 'ann'), hashed)
    deepEqual(
      [keep(null), keep('')].map(({ endUser }) => endUser),
      [null, null],
    )
  })

  test('is bounded: long names and those that cannot be shown are hashes, and such tags are left out', () => {
    for (const name of ['x'.repeat(257), 'a\0b', 'a\u202eb', '\ud800']) match(keep(name).endUser ?? '', /^hash_/)
    equal(keep('x'.repeat(256)).endUser?.length, 256)
    const metadata = { team: 'search', stage: 'x'.repeat(129), other: 'secret', __proto__: 'x' }
    deepEqual(keep(null, metadata).tags, { team: 'search' })
    equal(keep(null, { team: 'a\nb', stage: '' }).tags, null)
    equal(keep(null, {}).tags, null)
  })
})

onEachDatabase((database) => {
  let db: Database
  beforeEach(async () => {
    db = await database.open()
  })
  afterEach(() => db.destroy())

  const startMs = 1_800_000_000_000 - (1_800_000_000_000 % dayMs)
  const row = (number: number, fields: object = {}) => ({ ...ledgerRow(number), at: startMs + number, ...fields })
  const addUp = async () => {
    await rollUp(db)
    await rollUpAttributions(db, () => Promise.resolve())
  }
  const query = (fields: Partial<UsageQuery> = {}): UsageQuery => {
    const whole = { bucket: 'whole', groupBy: 'attribution', attributed: { dimension: 'user' } } as const
    return { organizationId, fromMs: startMs, toMs: null, limit: 5_000, cursor: null, ...whole, ...fields }
  }
  const groups = async (fields: Partial<UsageQuery> = {}) => {
    const { rows } = await queryUsage(db, query(fields))
    const shown = rows.map(({ group, requests, usage }) => [group ?? '', [requests, usage.output]] as const)
    return Object.fromEntries(shown)
  }
  const mixed = [
    row(1, { end_user: 'ann', tags: '{"team":"search","stage":"live"}' }),
    row(2, { end_user: 'ann', tags: '{"team":"ads"}', model: 'hal-1.0' }),
    row(3, { end_user: 'bob' }),
    row(4),
    row(5, { end_user: 'ann', organization_id: 'org_2' }),
    { ...toReversal(row(1, { end_user: 'ann', tags: '{"team":"search","stage":"live"}' }), startMs + 6) },
  ]

  test('the sums of end users and tags are those of the ledger, before they are rolled up and after', async () => {
    await insertRows(db, mixed.slice(0, 3))
    await addUp()
    await insertRows(db, mixed.slice(3))
    for (const isAfter of [false, true]) {
      if (isAfter) await addUp()
      deepEqual(await groups(), { '': [1, 4], ann: [2, 2], bob: [1, 3] })
      const team = { attributed: { dimension: 'tag:team' } } as const
      deepEqual(await groups(team), { '': [2, 7], ads: [1, 2], search: [1, 0] })
      const ofAnn = { attributed: { dimension: 'user', values: ['ann'] } } as const
      deepEqual(await groups(ofAnn), { ann: [2, 2] })
      deepEqual(await groups({ ...ofAnn, groupBy: 'model' }), { 'clarke-1.0': [1, 0], 'hal-1.0': [1, 2] })
      deepEqual(await groups({ ...team, models: ['hal-1.0'] }), { ads: [1, 2] })
    }
    const [whole] = await queryUsageTogether(db, [query({ bucket: 'day' })])
    deepEqual(
      whole?.map(({ startMs: at }) => at),
      [startMs, startMs, startMs],
    )
  })

  test('a gateway of the version before, which adds up everything but these, leaves none of them out', async () => {
    await insertRows(db, mixed)
    await rollUp(db)
    deepEqual(await groups(), { '': [1, 4], ann: [2, 2], bob: [1, 3] })
    await addUp()
    deepEqual(await groups(), { '': [1, 4], ann: [2, 2], bob: [1, 3] })
  })

  test('more values than there may be on a day are one group, and the sum is still whole', async () => {
    const count = valuesPerDayMax + 20
    const numbers = Array.from({ length: count }, (_, number) => number)
    for (let first = 0; first < count; first += 500) {
      await insertRows(
        db,
        numbers.slice(first, first + 500).map((number) => row(number + 10, { end_user: `u${number}` })),
      )
    }
    await addUp()
    const found = await groups()
    equal(Object.keys(found).length, valuesPerDayMax + 1)
    equal(found[otherValues]?.[0], 20)
    equal(
      Object.values(found).reduce((sum, [requests]) => sum + requests, 0),
      count,
    )
    await insertRows(db, [row(5_000, { end_user: 'u1' }), row(5_001, { end_user: 'late' })])
    await addUp()
    deepEqual([(await groups())['u1']?.[0], (await groups())[otherValues]?.[0]], [2, 21])
  })

  test('random rows in batches add up to the same as the ledger itself, whoever rolls up', async () => {
    const names = [null, 'ann', 'bob', 'eve']
    const all = Array.from({ length: 700 }, (_, number) => {
      const tags = number % 5 === 0 ? null : JSON.stringify({ team: `t${number % 7}` })
      return row(number, {
        end_user: names[number % 4] ?? null,
        tags,
        cost_micros: number,
        cost_rest_picos: number * 3,
      })
    })
    await insertRows(db, all.slice(0, 333))
    await Promise.all([addUp(), addUp()])
    await insertRows(db, all.slice(333))
    await Promise.all([addUp(), addUp()])
    for (const dimension of ['user', 'tag:team'] as const) {
      const { rows } = await queryUsage(db, query({ attributed: { dimension } }))
      const expected = Map.groupBy(all, ({ end_user, tags }) => {
        if (dimension === 'user') return end_user ?? ''
        return tags === null ? '' : (JSON.parse(tags) as { team: string }).team
      })
      const sums = [...expected].map(([group, own]) => {
        const picos = own.reduce((sum, { cost_micros: micros, cost_rest_picos: rest }) => {
          return sum + BigInt(micros ?? 0) * 1_000_000n + BigInt(rest ?? 0)
        }, 0n)
        return [group, own.length, picos]
      })
      deepEqual(
        rows.map(({ group, requests, costPicos }) => [group, requests, costPicos]),
        sums.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
      )
    }
  })

  test('sums of days whose rows are deleted are deleted as well, and their requests are of nobody', async () => {
    await insertRows(db, mixed)
    await addUp()
    await deleteOldAttributions(db, startMs + dayMs)
    deepEqual(await groups(), { '': [4, 9] })
  })
})
