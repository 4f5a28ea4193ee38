import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Database } from '../db/database.ts'
import { readKeyAccess, type KeyAccess } from './access/key-access.ts'
import {
  createApiKey,
  overlapMsMax,
  revokeApiKey,
  rotateApiKey,
  setApiKeyDisabled,
  updateApiKey,
  type CreatedApiKey,
} from './api-keys.ts'
import { hashKey } from './key-format.ts'
import { listApiKeys } from './read-api-keys.ts'
import { createOrganization, ensureDefaultHome, type Home } from './organizations.ts'
import type { AccountsParts } from './parts.ts'
import { updateProject } from './projects.ts'
import { createServiceAccount } from './service-accounts.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000
const notFound = { code: 'not-found' }

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let parts: AccountsParts
  let home: Home

  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    parts = { db, clock, hashSecret: new Uint8Array(32) }
    home = await ensureDefaultHome(parts)
  })
  afterEach(() => db.destroy())

  const create = (rules: NonNullable<Parameters<typeof createApiKey>[2]['rules']> = {}) =>
    createApiKey(parts, operator, { name: 'mine', ...home, rules })
  const refer = ({ id }: CreatedApiKey) => ({ id, organizationId: home.organizationId })
  /** What the door would know of a key, whether it has expired or not. */
  const find = async ({ key }: CreatedApiKey): Promise<KeyAccess | null> => {
    return (await readKeyAccess(db, [hashKey(parts.hashSecret, key)]))[0] ?? null
  }
  const list = async () => (await listApiKeys(parts, operator, { organizationId: home.organizationId })).items

  test('a key leads to its organization and project until it is revoked', async () => {
    const created = await create()
    const principal: ApiKeyPrincipal = {
      kind: 'api-key',
      apiKeyId: created.id,
      ...home,
      quotaId: created.id,
      attribution: { endUsers: 'hashed', tagKeys: [] },
      priority: 'standard',
    }
    deepEqual((await find(created))?.principal, principal)
    await revokeApiKey(parts, operator, refer(created))
    equal(await find(created), null)
    await rejects(revokeApiKey(parts, operator, refer(created)), notFound)
  })

  test('a key is unknown under another secret', async () => {
    const { key } = await create()
    const hash = hashKey(new Uint8Array(32).fill(1), key)
    deepEqual(await readKeyAccess(db, [hash]), [])
  })

  test('neither the key nor anything it could be rebuilt from is stored', async () => {
    const { key } = await create({ models: ['hal-1.0'] })
    for (const table of ['api_keys', 'audit'] as const) {
      const rows = JSON.stringify(await db.selectFrom(table).selectAll().execute())
      ok(!rows.includes(key.slice(7, 20)), table)
    }
    const audit = JSON.stringify(await db.selectFrom('audit').selectAll().execute())
    ok(!audit.includes(hashKey(parts.hashSecret, key)))
    equal((await list())[0]?.lastFour, key.slice(-4))
  })

  test('every change leaves its audit row with what changed, and a failed one leaves neither', async () => {
    const created = await create()
    await updateApiKey(parts, operator, refer(created), { name: 'renamed', models: ['tycho-1.0'] })
    await revokeApiKey(parts, operator, refer(created))
    const foreign = { name: 'x', organizationId: home.organizationId, projectId: 'proj_none' } as const
    await rejects(createApiKey(parts, operator, foreign), notFound)
    await rejects(revokeApiKey(parts, operator, refer(created)), notFound)
    const audit = await db.selectFrom('audit').selectAll().orderBy('sequence').execute()
    deepEqual(
      audit.map(({ sequence, action, actor }) => [sequence, action, actor]),
      [
        [1, 'organizations:create', 'operator'],
        [2, 'api-keys:create', 'operator'],
        [3, 'api-keys:update', 'operator'],
        [4, 'api-keys:revoke', 'operator'],
      ],
    )
    deepEqual(JSON.parse(audit[2]?.before ?? ''), { name: 'mine', allowed_models: null })
    deepEqual(JSON.parse(audit[2]?.after ?? ''), { name: 'renamed', allowed_models: '["tycho-1.0"]' })
    deepEqual(JSON.parse(audit[3]?.after ?? ''), { revoked_at: clock.nowMs() })
    equal(audit[1]?.target, created.id)
  })

  test('the audit says where a change came from', async () => {
    const origin = { address: '192.0.2.7', requestId: 'req_1' } as const
    await createApiKey({ ...parts, origin }, operator, { name: 'mine', ...home })
    const row = await db.selectFrom('audit').selectAll().orderBy('sequence', 'desc').executeTakeFirstOrThrow()
    deepEqual([row.address, row.request_id], ['192.0.2.7', 'req_1'])
  })

  test('rules are kept, changed and lifted', async () => {
    const rules = {
      expiresAtMs: clock.nowMs() + dayMs,
      models: ['hal-1.0'],
      endpoints: ['messages', 'models'],
      addresses: ['10.0.0.0/8'],
      priority: 'batch' as const,
    } as const
    const created = await create(rules)
    deepEqual((await list())[0]?.rules, rules)
    const access = await find(created)
    equal(access?.expiresAtMs, rules.expiresAtMs)
    deepEqual([[...(access?.models ?? [])], [...(access?.endpoints ?? [])]], [['hal-1.0'], ['messages', 'models']])
    deepEqual([access?.addresses?.includes('10.9.9.9'), access?.addresses?.includes('11.0.0.1')], [true, false])
    await updateApiKey(parts, operator, refer(created), { models: null, addresses: ['::1'] })
    deepEqual((await list())[0]?.rules, { ...rules, models: null, addresses: ['::1'] })
  })

  test('rules that cannot be meant are refused', async () => {
    const wrong = [
      { expiresAtMs: clock.nowMs() },
      { expiresAtMs: Number.NaN },
      { models: [] },
      { models: ['gpt-4'] },
      { endpoints: ['embeddings'] },
      { endpoints: [] },
      { addresses: [] },
      { addresses: ['10.0.0.0/33'] },
      { addresses: Array.from({ length: 101 }, () => '10.0.0.1') },
    ]
    const created = await create()
    for (const rules of wrong as NonNullable<Parameters<typeof create>[0]>[]) {
      await rejects(create(rules), { code: 'invalid-request' }, JSON.stringify(rules))
      await rejects(updateApiKey(parts, operator, refer(created), rules), { code: 'invalid-request' })
    }
    for (const name of ['', '   ', 'a\u001b[2J', 'x'.repeat(201)]) {
      await rejects(createApiKey(parts, operator, { name, ...home }), { code: 'invalid-request' }, name)
    }
    equal((await list()).length, 1)
  })

  test('a disabled key is refused until it is enabled', async () => {
    const created = await create()
    await setApiKeyDisabled(parts, operator, refer(created), true)
    equal(await find(created), null)
    equal((await list())[0]?.state, 'disabled')
    await setApiKeyDisabled(parts, operator, refer(created), false)
    notEqual(await find(created), null)
  })

  test('a rotated key works on for the overlap and no longer, and both count to one quota', async () => {
    const first = await create({ models: ['hal-1.0'], expiresAtMs: clock.nowMs() + 100 * dayMs })
    const second = await rotateApiKey(parts, operator, refer(first), 2 * dayMs)
    notEqual(second.key, first.key)
    const [old, fresh] = [await find(first), await find(second)]
    equal(old?.expiresAtMs, clock.nowMs() + 2 * dayMs)
    equal(fresh?.expiresAtMs, clock.nowMs() + 100 * dayMs)
    deepEqual([...(fresh?.models ?? [])], ['hal-1.0'])
    const third = await rotateApiKey(parts, operator, refer(second), 0)
    equal(await find(second), null)
    const quotas = [await find(first), await find(third)].map((access) => access?.principal.quotaId)
    deepEqual(quotas, [first.id, first.id])
    const summary = (await list()).find(({ id }) => id === third.id)
    equal(summary?.rotatedFrom, second.id)
  })

  test('a key that is being replaced is not replaced once more, also by whoever asks at the same moment', async () => {
    const first = await create()
    const asked = [0, 1, 2, 3].map(() => rotateApiKey(parts, operator, refer(first), dayMs))
    const answers = await Promise.allSettled(asked)
    const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    equal(made.length, 1)
    for (const answer of answers) {
      if (answer.status === 'rejected') equal((answer.reason as { code: unknown }).code, 'conflict')
    }
    equal((await list()).filter(({ revokedAtMs }) => revokedAtMs === null).length, 2)
    // Whoever has lost the new one ends it and asks again.
    for (const successor of made) await revokeApiKey(parts, operator, refer(successor))
    await rotateApiKey(parts, operator, refer(first), dayMs)
  })

  test('a key of nobody in particular is not replaced in a project that takes those of service accounts alone', async () => {
    const [own, account] = [await create(), await createServiceAccount(parts, operator, { ...home, name: 'program' })]
    const programs = await createApiKey(parts, operator, { name: 'p', ...home, serviceAccountId: account })
    const { organizationId, projectId } = home
    await updateProject(parts, operator, { organizationId, id: projectId }, { keyOwners: 'service-accounts' })
    await rejects(rotateApiKey(parts, operator, refer(own), 0), { code: 'conflict' })
    ok(await find(own))
    await rotateApiKey(parts, operator, refer(programs), 0)
  })

  test('two changes at the same moment of different fields of a key are both kept', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await create()
      const reference = { id, organizationId: home.organizationId }
      await Promise.all([
        updateApiKey(parts, operator, reference, { models: ['hal-1.0'] }),
        updateApiKey(parts, operator, reference, { name: 'renamed' }),
        setApiKeyDisabled(parts, operator, reference, true),
      ])
      const key = (await list()).find((one) => one.id === id)
      deepEqual([key?.name, key?.rules.models, key?.state], ['renamed', ['hal-1.0'], 'disabled'])
    }
  })

  test('an overlap never makes a key last longer', async () => {
    const expiresAtMs = clock.nowMs() + 1_000
    const first = await create({ expiresAtMs })
    await rotateApiKey(parts, operator, refer(first), overlapMsMax)
    equal((await find(first))?.expiresAtMs, expiresAtMs)
  })

  test('an overlap is from none to seven days', async () => {
    const created = await create()
    for (const overlapMs of [-1, overlapMsMax + 1, 0.5, Number.NaN, Infinity]) {
      await rejects(rotateApiKey(parts, operator, refer(created), overlapMs), { code: 'invalid-request' })
    }
    clock.advance(10)
    const expired = await create({ expiresAtMs: clock.nowMs() + 10 })
    clock.advance(10)
    await rejects(rotateApiKey(parts, operator, refer(expired), 0), notFound)
  })

  test('a list comes in pages, each key once', async () => {
    for (let count = 0; count < 7; count += 1) {
      await create()
      // Several are made within one millisecond.
      if (count % 3 === 0) clock.advance(1)
    }
    const seen: string[] = []
    let cursor: string | undefined
    for (;;) {
      const request = { organizationId: home.organizationId, limit: 3, ...(cursor !== undefined && { cursor }) }
      const { items, next } = await listApiKeys(parts, operator, request)
      ok(items.length <= 3)
      seen.push(...items.map(({ id }) => id))
      if (next === null) break
      cursor = next
    }
    equal(seen.length, 7)
    equal(new Set(seen).size, 7)
    for (const wrong of ['', 'x', Buffer.from("1 ' or 1=1").toString('base64url')]) {
      const request = { organizationId: home.organizationId, cursor: wrong }
      await rejects(listApiKeys(parts, operator, request), { code: 'invalid-request' })
    }
  })

  test('a cursor of another organization shows nothing of it', async () => {
    const other = await createOrganization(parts, operator, { name: 'Other' })
    for (let count = 0; count < 3; count += 1) await create()
    const { next } = await listApiKeys(parts, operator, { organizationId: home.organizationId, limit: 1 })
    const request = { organizationId: other.organizationId, cursor: next ?? '' }
    deepEqual((await listApiKeys(parts, operator, request)).items, [])
  })

  test('an id is random, with 128 bits or more', async () => {
    match((await create()).id, /^key_[0-9A-Za-z]{22,}$/)
  })
})
