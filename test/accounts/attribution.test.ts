// Whom requests are for, from their bodies in both formats to the ledger, the sums and what is saved of both.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runCli } from '../harness/run-cli.ts'
import { readLedger, startService, type Service } from '../harness/start-service.ts'

let service: Service
let managementKey: string
before(async () => {
  service = await startService()
  const made = await runCli(service, 'management-keys', 'create', '--name', 'test', '--role', 'owner', '--json')
  managementKey = (JSON.parse(made) as { key: string }).key
})
after(() => service.stop())

async function send(path: string, key: string, body: unknown, method = 'POST'): Promise<string> {
  const response = await fetch(service.address + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== null && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  equal(response.status, 200, text)
  return text
}

const organization = '/api/v1/organizations/org_default'
const set = (fields: object) => send(`${organization}/settings`, managementKey, fields, 'PATCH')
const read = async (path: string) => JSON.parse(await send(organization + path, managementKey, null, 'GET')) as unknown

const asked = { model: 'clarke-1.0', max_tokens: 2, messages: [{ role: 'user', content: 'Hello' }] }
const chat = (fields: object) => send('/v1/chat/completions', service.key, { ...asked, ...fields })
const message = (fields: object) => send('/v1/messages', service.key, { ...asked, ...fields })
const kept = () => readLedger(service.home).map(({ end_user: user, tags }) => [user, tags] as (string | null)[])

test('end users and tags of both formats are kept as the organization says, and summed up', async () => {
  const metadata = { team: 'search', note: 'very-secret' }
  await chat({ user: 'ann@example.com', metadata })
  const [[hashed] = []] = kept()
  match(hashed ?? '', /^hash_[\w-]{22}$/)
  await set({ endUsers: 'plain', tagKeys: ['team'] })
  await chat({ user: 'ann@example.com', safety_identifier: 'ann', metadata })
  await message({ metadata: { user_id: 'bob' } })
  await set({ endUsers: 'off', tagKeys: [] })
  await message({ metadata: { user_id: 'bob' } })
  deepEqual(kept(), [
    [hashed, null],
    ['ann', '{"team":"search"}'],
    ['bob', null],
    [null, null],
  ])
  ok(!JSON.stringify(readLedger(service.home)).includes('very-secret'))

  type Sums = { readonly data: readonly { readonly group: string | null; readonly requests: number }[] }
  const groups = async (query: string) => {
    const { data } = (await read(`/usage?bucket=whole&${query}`)) as Sums
    return Object.fromEntries(data.map(({ group, requests }) => [group, requests]))
  }
  deepEqual(await groups('groupBy=user'), { '': 1, ann: 1, bob: 1, [hashed ?? '']: 1 })
  deepEqual(await groups('groupBy=tag&tagKey=team'), { '': 3, search: 1 })
  deepEqual(await groups('groupBy=model&user=ann@example.com'), { 'clarke-1.0': 1 }, 'a name finds its hash')
  deepEqual(await groups('groupBy=key&tagKey=team&tag=ads'), {})

  const refuse = async (query: string) => {
    const headers = { authorization: `Bearer ${managementKey}` }
    const answer = await fetch(`${service.address}${organization}/usage?${query}`, { headers })
    return [answer.status, /"path":"(\w+)"/.exec(await answer.text())?.[1]]
  }
  deepEqual(await refuse('groupBy=tag'), [400, 'tagKey'])
  deepEqual(await refuse('user=ann&tagKey=team'), [400, 'tagKey'])
  deepEqual(await refuse('tagKey=two%20words'), [400, 'tagKey'])

  const series = (await read('/usage/series?groupBy=user')) as { groups: { name: string }[]; refused: unknown }
  deepEqual(
    series.groups.map(({ name }) => name).toSorted(),
    ['Without an end user', 'ann', 'bob', hashed ?? ''].toSorted(),
  )
  match(await send(`${organization}/ledger/export?format=csv`, managementKey, null, 'GET'), /bob/)
  match(await runCli(service, 'usage', '--by', 'user', '--csv'), /^bob,1,/m)
  match(await runCli(service, 'usage', '--by', 'tag', '--tag', 'team'), /^search +1 /m)
  match(await runCli(service, 'ledger', 'export', '--csv'), /,ann,"{""team"":""search""}"/)
})
