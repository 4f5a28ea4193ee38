import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { startFakeService, type FakeService } from '../../test/harness/fake-service.ts'
import { setBudget } from '../limits/settings/budget-settings.ts'
import { createReadSpent } from './read-spent.ts'

let service: FakeService
beforeEach(async () => {
  service = await startFakeService({})
})
afterEach(() => service.close())

async function ask(): Promise<number> {
  const { status } = await fetch(`${service.address}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify({ model: 'clarke-1.0', max_tokens: 2, messages: [{ role: 'user', content: 'a b' }] }),
  })
  return status
}

test('a budget set later counts what was spent before, of its subject and in its period alone', async () => {
  assert.deepEqual([await ask(), await ask()], [200, 200])
  const { organizationId, projectId } = service.home
  const key = await service.db.selectFrom('api_keys').select('id').executeTakeFirstOrThrow()
  const read = createReadSpent(service.db)
  const nowMs = service.clock.nowMs()
  const today = { fromMs: nowMs - (nowMs % 3_600_000), beforeMs: nowMs + 3_600_000 }
  const tokens = async (kind: 'organization' | 'project' | 'api-key', id: string, range = today) =>
    (await read({ organizationId, subject: { kind, id } as never }, range, [])).sum.tokens
  // Ten of each prompt and two of each answer.
  assert.equal(await tokens('organization', organizationId), 24)
  assert.equal(await tokens('project', projectId), 24)
  assert.equal(await tokens('api-key', key.id), 24)
  assert.equal(await tokens('api-key', 'key_other'), 0)
  assert.equal(await tokens('organization', organizationId, { ...today, fromMs: today.fromMs + 3_600_000 }), 0)
  await service.db
    .updateTable('api_keys')
    .set({ quota_id: 'key_first' } as never)
    .execute()
  assert.equal(await tokens('api-key', 'key_first'), 24)

  const subject = { kind: 'organization', id: organizationId } as const
  await setBudget(service.accounts, { kind: 'operator' }, { organizationId, subject, period: 'day', tokensMax: 35 })
  await service.limits.look()
  assert.equal(await ask(), 429)
})
