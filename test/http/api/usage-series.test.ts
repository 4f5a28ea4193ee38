import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import type { ApiKeyId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { addRequest, createCompany, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
const hourMs = 3_600_000

type Series = {
  readonly startsAt: string[]
  readonly groups: {
    id: string | null
    name: string
    isOthers: boolean
    totals: { requests: number; costMicros: string }
  }[]
  readonly requests: number[][]
  readonly costMicros: string[][]
  readonly totals: { requests: number; costMicros: string }
  readonly previous: { requests: number } | null
  readonly refused: number[] | null
}

onEachDatabase(({ open }) => {
  let service: ManagementService
  let company: Company
  let keys: readonly ApiKeyId[]
  beforeEach(async () => {
    service = await openManagementService(await open())
    company = await createCompany(service.accounts)
    const ownerId = company.members.developer.memberId
    const made: ApiKeyId[] = []
    for (const name of ['one', 'two', 'three']) {
      const owned = name === 'one' ? { ownerId } : {}
      made.push((await createApiKey(service.accounts, operator, { name, ...company, ...owned })).id)
    }
    keys = made
  })
  afterEach(() => service.close())

  const within = (path: string) => `/api/v1/organizations/${company.organizationId}/usage/${path}`
  const add = (index: number, at: string, micros: number, fields: object = {}) =>
    addRequest(
      service.accounts,
      { ...company, apiKeyId: keys[index] ?? 'key_none' },
      { at: Date.parse(at), cost_micros: micros, cost_rest_picos: 0, ...fields },
    )
  const read = async (query: string) => {
    const answer = await service.ask({ path: within(`series?${query}`), key: service.key })
    equal(answer.status, 200, answer.text)
    return answer.body as unknown as Series
  }

  test('the columns of all groups add up to the totals, and those to the sums of the ledger', async () => {
    for (let number = 0; number < 40; number += 1) {
      const at = new Date(Date.parse('2026-10-24T20:00:00Z') + number * 2 * hourMs).toISOString()
      await add(number % 3, at, number + 1)
    }
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-28T10:00:00Z'
    for (const zone of ['UTC', 'Europe/Berlin']) {
      for (const bucket of ['hour', 'day', 'week', 'month']) {
        for (const group of ['', '&groupBy=key', '&groupBy=model', '&groupBy=project', '&groupBy=member&top=1']) {
          const { startsAt, groups, requests, costMicros, totals } = await read(
            `${range}&zone=${zone}&bucket=${bucket}${group}`,
          )
          const what = `${zone} ${bucket} ${group}`
          equal(
            requests.flat().reduce((sum, count) => sum + count, 0),
            40,
            what,
          )
          equal(
            costMicros.flat().reduce((sum, cost) => sum + Number(cost), 0),
            (40 * 41) / 2,
            what,
          )
          deepEqual([totals.requests, totals.costMicros], [40, '820'], what)
          equal(requests.length, groups.length, what)
          for (const column of requests) equal(column.length, startsAt.length, what)
        }
      }
    }
    const { startsAt, requests } = await read(`${range}&zone=Europe/Berlin&bucket=day`)
    deepEqual(startsAt.slice(0, 3), [
      '2026-10-24T20:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    deepEqual(requests[0]?.slice(0, 2), [1, 13], 'The day of the change of clocks has 25 hours.')
  })

  test('the costliest groups stand alone, by name, and the others are one', async () => {
    await add(0, '2026-10-24T20:10:00Z', 1)
    await add(1, '2026-10-24T20:10:00Z', 5)
    await add(2, '2026-10-24T20:10:00Z', 3)
    const { groups, costMicros } = await read('from=2026-10-24T20:00:00Z&to=2026-10-24T21:00:00Z&groupBy=key&top=1')
    deepEqual(
      groups.map(({ totals, ...group }) => ({ ...group, costMicros: totals.costMicros, requests: totals.requests })),
      [
        { id: keys[1], name: 'two', isOthers: false, costMicros: '5', requests: 1 },
        { id: null, name: 'Others', isOthers: true, costMicros: '4', requests: 2 },
      ],
    )
    deepEqual(costMicros, [['5'], ['4']])
    const byMember = await read('from=2026-10-24T20:00:00Z&to=2026-10-24T21:00:00Z&groupBy=member')
    deepEqual(
      byMember.groups.map(({ name }) => name),
      ['Without an owner', 'M'],
    )
  })

  test('who sees usage and neither keys nor members has groups of them by their ids alone', async () => {
    await add(0, '2026-10-24T20:10:00Z', 1)
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-24T21:00:00Z'
    const namesFor = async (role: keyof Company['members'], group: string) => {
      const { headers } = await signInPerson(service.accounts, { memberId: company.members[role].memberId })
      const { body, text } = await service.ask({ path: within(`series?${range}&groupBy=${group}`), headers })
      const saved = await service.ask({ path: within(`export?format=jsonl&${range}&groupBy=${group}`), headers })
      const names = (body as unknown as Series).groups.map(({ name }) => name)
      const [line = ''] = saved.text.split('\n')
      deepEqual([(JSON.parse(line) as { groupName: string }).groupName], names, text)
      return names
    }
    const { memberId } = company.members.developer
    deepEqual(await namesFor('billing', 'key'), [keys[0]])
    deepEqual(await namesFor('billing', 'member'), [memberId])
    deepEqual(await namesFor('billing', 'project'), ['Default'])
    deepEqual(await namesFor('developer', 'key'), ['one'])
    deepEqual(await namesFor('developer', 'member'), [memberId])
    deepEqual([await namesFor('auditor', 'key'), await namesFor('auditor', 'member')], [['one'], ['M']])
  })

  test('the time before, of equal length, is summed up beside it', async () => {
    await add(0, '2026-10-24T18:10:00Z', 1)
    await add(0, '2026-10-24T19:10:00Z', 1)
    await add(0, '2026-10-24T20:10:00Z', 1)
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-24T21:00:00Z'
    equal((await read(`${range}&previous=true`)).previous?.requests, 1)
    equal((await read(range)).previous, null)
  })

  test('of a time that is not over as much is held against it as has passed, in whole hours', async () => {
    const today = Math.floor(service.clock.nowMs() / hourMs) * hourMs - 2 * hourMs
    service.clock.advance(today + 2.5 * hourMs - service.clock.nowMs())
    const dayMs = 24 * hourMs
    for (const hour of [0, 1, 2, 3, 20]) await add(0, new Date(today - dayMs + hour * hourMs).toISOString(), 1)
    const [from, to] = [today, today + dayMs].map((ms) => new Date(ms).toISOString())
    equal((await read(`from=${from}&to=${to}&previous=true`)).previous?.requests, 3)
  })

  test('a zone half an hour off, a time the wrong way round and too many buckets are refused by their field', async () => {
    const refusals = [
      ['zone=Asia/Kolkata', 'zone'],
      ['zone=Nowhere', 'zone'],
      ['from=2026-10-24T20:00:00Z&to=2026-10-24T20:00:00Z', 'to'],
      ['from=2026-10-24T20:30:00Z', 'from'],
      ['from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&bucket=hour', 'bucket'],
    ] as const
    for (const [query, field] of refusals) {
      const { status, body } = await service.ask({ path: within(`series?${query}`), key: service.key })
      deepEqual([status, (body['errors'] as { path: string }[])[0]?.path], [400, field], query)
    }
  })

  test('a range of centuries is refused before it is cut, for everybody would wait meanwhile', async () => {
    for (const query of [
      'from=0001-01-01T00:00:00Z&to=9999-12-31T23:00:00Z&bucket=month',
      'from=1900-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&bucket=month&zone=Europe/Berlin',
    ]) {
      const { status, text, body } = await service.ask({ path: within(`series?${query}`), key: service.key })
      deepEqual([status, (body['errors'] as { path: string }[])[0]?.path], [400, 'from'])
      match(text, /Ten years are the most that can be asked for\./)
    }
    await read('from=2017-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&bucket=month&zone=Europe/Berlin')
  })

  test('a developer sees their own projects alone, and no refusals', async () => {
    await add(0, '2026-10-24T20:10:00Z', 1)
    await add(1, '2026-10-24T20:10:00Z', 5, { project_id: company.siblingId })
    const { headers } = await signInPerson(service.accounts, { memberId: company.members.developer.memberId })
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-24T21:00:00Z'
    const answer = await service.ask({ path: within(`series?${range}&groupBy=project`), headers })
    const { groups, totals, refused } = answer.body as unknown as Series
    deepEqual([groups.map(({ id }) => id), totals.costMicros, refused], [[company.projectId], '1', null])
  })

  test('the export holds the same, a line for each bucket and group, and says what in its name', async () => {
    await add(0, '2026-10-24T20:10:00Z', 7)
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-24T22:00:00Z&groupBy=key'
    const { headers, text } = await service.ask({ path: within(`export?${range}`), key: service.key })
    match(String(headers['content-disposition']), /usage_org_\w+_2026-10-24-20_2026-10-24-22_UTC_day_by-key\.csv/)
    const [head = '', line = '', ...rest] = text.trim().split(/\r?\n/)
    equal(head.startsWith('startsAt,groupId,groupName,requests'), true, head)
    equal(line.startsWith(`2026-10-24T20:00:00.000Z,${keys[0]},one,1,`), true, line)
    deepEqual(rest, [])
  })

  test('the export has a line for a bucket in which requests were only reversed', async () => {
    await add(0, '2026-10-24T20:10:00Z', 7)
    const voided = { kind: 'reversal', input_uncached: -1 }
    await add(0, '2026-10-24T22:10:00Z', -7, voided)
    const range = 'from=2026-10-24T20:00:00Z&to=2026-10-25T00:00:00Z&bucket=hour'
    const saved = await service.ask({ path: within(`export?format=jsonl&${range}`), key: service.key })
    const lines = saved.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    deepEqual(
      lines.map(({ startsAt, requests, reversed, costMicros }) => [startsAt, requests, reversed, costMicros]),
      [
        ['2026-10-24T20:00:00.000Z', 1, 0, '7'],
        ['2026-10-24T22:00:00.000Z', 0, 1, '-7'],
      ],
    )
    const { text } = await service.ask({ path: within(`export?${range}`), key: service.key })
    match(text, /^startsAt,groupId,groupName,requests,finished,aborted,failed,unpriced,reversed,costMicros,/)
  })
})
