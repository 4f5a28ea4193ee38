import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { ApiError } from '../core/error.ts'
import type { Principal } from '../core/principal.ts'
import type { Role } from '../core/role.ts'
import type { Database } from '../db/database.ts'
import { listLedger } from './ledger/list-ledger.ts'
import { readRequestRows } from './ledger/read-ledger.ts'
import { insertRows } from './ledger/writer/insert-rows.ts'
import { listPrices, setPrice } from './prices/prices.ts'
import { readUsage } from './usage/query-usage.ts'

const member = (role: Role, organizationId: 'org_1' | 'org_2' = 'org_1'): Principal => ({
  kind: 'member',
  memberId: 'mem_1',
  organizationId,
  role,
  projectIds: role === 'developer' ? ['proj_1'] : [],
})
const whole = { organizationId: 'org_1', after: null, limit: 10 } as const
const usage = {
  organizationId: 'org_1',
  fromMs: 0,
  toMs: null,
  bucket: 'whole',
  groupBy: null,
  limit: 10,
  cursor: null,
} as const
const price = {
  organizationId: null,
  model: 'hal-1.0',
  currency: 'USD',
  effectiveAtMs: null,
  rates: { input: 1, cacheRead: 1, cacheWriteShort: 1, cacheWriteLong: 1, output: 1 },
}
const refusedWith = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

onEachDatabase((database) => {
  let db: Database
  beforeEach(async () => {
    db = await database.open()
    const organizations = (['org_1', 'org_2'] as const).map((id) => ({ id, name: id, created_at: 0 }))
    await db.insertInto('organizations').values(organizations).execute()
    await insertRows(db, [ledgerRow(1), { ...ledgerRow(2), project_id: 'proj_2' }])
  })
  afterEach(() => db.destroy())

  const requestsOf = async (principal: Principal) =>
    (await listLedger(db, principal, whole)).rows.map(({ request_id: id }) => id).toSorted()
  const countOf = async (principal: Principal) => (await readUsage(db, principal, usage)).rows[0]?.requests

  test('a developer sees the rows and the usage of the own projects alone, an admin those of all', async () => {
    assert.deepEqual(await requestsOf(member('admin')), ['req_1', 'req_2'])
    assert.deepEqual(await requestsOf(member('developer')), ['req_1'])
    const asked = await listLedger(db, member('developer'), { ...whole, projectIds: ['proj_1', 'proj_2'] })
    assert.equal(asked.rows.length, 1)
    assert.deepEqual([await countOf(member('admin')), await countOf(member('developer'))], [2, 1])
  })

  test('a request in another project, and another organization, is not there for who may not see it', async () => {
    assert.equal((await readRequestRows(db, member('admin'), 'req_2')).length, 1)
    await assert.rejects(readRequestRows(db, member('developer'), 'req_2'), refusedWith('not-found'))
    await assert.rejects(readRequestRows(db, member('admin', 'org_2'), 'req_1'), refusedWith('not-found'))
    await assert.rejects(async () => readUsage(db, member('admin', 'org_2'), usage), refusedWith('not-found'))
    await assert.rejects(listLedger(db, member('owner', 'org_2'), whole), refusedWith('not-found'))
  })

  test('a role that sees usage does not see requests', async () => {
    assert.equal(await countOf(member('billing')), 2)
    await assert.rejects(requestsOf(member('billing')), refusedWith('permission-denied'))
  })

  test('only the installation sets prices, and an organization sees its own and everyone’s', async () => {
    const parts = { db, clock: createManualClock(), currency: 'USD' }
    const all = { kind: 'operator' } as const
    for (const organizationId of [null, 'org_1', 'org_2'] as const)
      await setPrice(parts, all, { ...price, organizationId })
    await assert.rejects(setPrice(parts, member('owner'), price), ApiError)
    const seen = async (principal: Principal) =>
      (await listPrices(parts, principal)).map(({ organizationId }) => organizationId)
    assert.deepEqual(await seen(member('developer')), [null, 'org_1'])
    assert.deepEqual(await seen(all), [null, 'org_1', 'org_2'])
  })
})
