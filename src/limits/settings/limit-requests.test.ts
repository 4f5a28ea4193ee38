import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createApiKey } from '../../accounts/api-keys.ts'
import { ensureDefaultHome, type Home } from '../../accounts/organizations.ts'
import type { ApiKeyId } from '../../core/ids.ts'
import type { Role } from '../../core/role.ts'
import type { Database } from '../../db/database.ts'
import { systemClock } from '../../lib/clock.ts'
import { answerLimitRequest, askForLimits, listLimitRequests } from './limit-requests.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let db: Database
  let parts: { db: Database; clock: typeof systemClock; hashSecret: Uint8Array }
  let home: Home
  let apiKeyId: ApiKeyId
  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    home = await ensureDefaultHome(parts)
    apiKeyId = (await createApiKey(parts, operator, { ...home, name: 'k' })).id
  })
  afterEach(() => db.destroy())

  const ask = () => {
    const { organizationId } = home
    const what = { model: '*', wanted: { concurrency: 9 }, reason: 'More.', contact: null }
    return askForLimits(parts, operator, { organizationId, apiKeyId, ...what })
  }
  const list = (state: 'open' | null) =>
    listLimitRequests(parts, operator, { organizationId: home.organizationId, state })
  const done = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.filter(({ status }) => status === 'fulfilled').length

  test('of many who ask at once with one key five find a place', async () => {
    for (let round = 0; round < 4; round++) {
      equal(done(await Promise.allSettled(Array.from({ length: 20 }, ask))), 5)
      const open = await list('open')
      equal(open.length, 5)
      const { organizationId } = home
      const answer = { organizationId, state: 'declined', answer: null } as const
      for (const { id } of open) await answerLimitRequest(parts, operator, { ...answer, id })
    }
  })

  test('who sees limits and no keys is told neither the names of keys nor how to reach their owners', async () => {
    const { organizationId } = home
    const what = { model: '*', wanted: { concurrency: 9 }, reason: 'More.', contact: 'bo@example.org' }
    await askForLimits(parts, operator, { organizationId, apiKeyId, ...what })
    const told = async (role: Role) => {
      const member = { kind: 'member', memberId: 'mem_1', organizationId, role, projectIds: [home.projectId] } as const
      const requests = await listLimitRequests(parts, member, { organizationId, state: null })
      return requests.map(({ apiKeyName, contact, reason }) => [apiKeyName, contact, reason])
    }
    deepEqual(await told('billing'), [[apiKeyId, null, 'More.']])
    for (const role of ['developer', 'auditor'] as const)
      deepEqual(await told(role), [['k', 'bo@example.org', 'More.']])
  })

  test('a request is answered once, however many answer it at once', async () => {
    const id = await ask()
    const states = ['approved', 'declined'] as const
    const answers = Array.from({ length: 8 }, (_, index) => {
      const { organizationId } = home
      return answerLimitRequest(parts, operator, { organizationId, id, state: states[index % 2]!, answer: null })
    })
    equal(done(await Promise.allSettled(answers)), 1)
    const audit = await db.selectFrom('audit').select('action').where('target', '=', id).execute()
    equal(audit.length, 1)
    equal(audit[0]?.action === 'limit-requests:approve', (await list(null))[0]?.state === 'approved')
  })
})
