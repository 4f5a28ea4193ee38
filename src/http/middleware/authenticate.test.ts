import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyAccess } from '../../accounts/access/key-access.ts'
import { parseAddressList } from '../../lib/network/address-list.ts'
import { formats } from '../../protocols/formats.ts'
import { authenticate } from './authenticate.ts'

const hash = '0'.repeat(64)

function accessOf(apiKeyId: KeyAccess['principal']['apiKeyId'], addresses: readonly string[] | null): KeyAccess {
  const list = addresses === null ? null : parseAddressList(addresses)
  if (list !== null && 'fault' in list) throw new Error(list.fault)
  const of = { organizationId: 'org_one', projectId: 'proj_one' } as const
  return {
    hash,
    principal: { kind: 'api-key', apiKeyId, ...of },
    expiresAtMs: null,
    closed: null,
    models: null,
    endpoints: null,
    addresses: list,
  }
}

test('a use is noted with its address once the key was let in, and not of a key that was refused', async () => {
  const noted: unknown[] = []
  const keys = new Map([
    ['open', accessOf('key_open', null)],
    ['bound', accessOf('key_bound', ['10.0.0.0/8'])],
  ])
  const access = {
    find: (key: string) => Promise.resolve(keys.get(key) ?? null),
    noteUse: ({ principal }: KeyAccess, address: string) => void noted.push([principal.apiKeyId, address]),
  }
  const ask = (key: string, ip: string) =>
    authenticate({ access, formats }, { headers: { authorization: `Bearer ${key}` }, ip }, null)
  await ask('open', '203.0.113.1')
  await ask('bound', '10.1.2.3')
  await rejects(ask('bound', '203.0.113.1'), { code: 'permission-denied' })
  await rejects(ask('unknown', '203.0.113.1'), { code: 'unauthenticated' })
  deepEqual(noted, [
    ['key_open', '203.0.113.1'],
    ['key_bound', '10.1.2.3'],
  ])
})
