import assert from 'node:assert/strict'
import { beforeEach, afterEach, test } from 'node:test'
import type { Database } from '../db/database.ts'
import { openSqlite } from '../db/open-sqlite.ts'
import { systemClock } from '../lib/clock.ts'
import { createApiKey, findPrincipal, listApiKeys, revokeApiKey, type ApiKeys } from './api-keys.ts'
import { createKey } from './key-format.ts'
import { ensureDefaultHome, type Home } from './organizations.ts'

const operator = { kind: 'operator' } as const
let db: Database
let parts: ApiKeys
let home: Home

beforeEach(async () => {
  db = await openSqlite(':memory:')
  parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
  home = await ensureDefaultHome(parts)
})
afterEach(() => db.destroy())

test('a key leads to its organization and project until it is revoked', async () => {
  const { id, key } = await createApiKey(parts, operator, { name: 'mine', ...home })
  assert.deepEqual(await findPrincipal(parts, key), { kind: 'api-key', apiKeyId: id, ...home })
  assert.equal(await revokeApiKey(parts, operator, { id, organizationId: home.organizationId }), true)
  assert.equal(await findPrincipal(parts, key), null)
  assert.equal(await revokeApiKey(parts, operator, { id, organizationId: home.organizationId }), false)
})

test('an unknown key, and a known one under another secret, lead nowhere', async () => {
  const { key } = await createApiKey(parts, operator, { name: 'mine', ...home })
  assert.equal(await findPrincipal(parts, createKey()), null)
  assert.equal(await findPrincipal({ ...parts, hashSecret: new Uint8Array(32).fill(1) }, key), null)
})

test('a key cannot be revoked from another organization', async () => {
  const { id, key } = await createApiKey(parts, operator, { name: 'mine', ...home })
  assert.equal(await revokeApiKey(parts, operator, { id, organizationId: 'org_other' }), false)
  assert.notEqual(await findPrincipal(parts, key), null)
})

test('neither the key nor anything it could be rebuilt from is stored', async () => {
  const { key } = await createApiKey(parts, operator, { name: 'mine', ...home })
  const rows = JSON.stringify(await db.selectFrom('api_keys').selectAll().execute())
  assert.ok(!rows.includes(key.slice(7, 20)))
  assert.deepEqual(
    (await listApiKeys(parts, home.organizationId)).map(({ name, lastFour }) => ({ name, lastFour })),
    [{ name: 'mine', lastFour: key.slice(-4) }],
  )
})

test('every change leaves its audit row, and a failed one leaves neither', async () => {
  const { id } = await createApiKey(parts, operator, { name: 'mine', ...home })
  await revokeApiKey(parts, operator, { id, organizationId: home.organizationId })
  await assert.rejects(
    createApiKey(parts, operator, { name: 'x', organizationId: home.organizationId, projectId: 'proj_none' }),
  )
  const audit = await db.selectFrom('audit').select(['action', 'target', 'actor']).orderBy('at').execute()
  assert.deepEqual(
    audit.map(({ action }) => action),
    ['organizations:create', 'api-keys:create', 'api-keys:revoke'],
  )
  assert.equal(audit[1]?.target, id)
  assert.equal((await listApiKeys(parts, home.organizationId)).length, 1)
})
