// An export that breaks off on our side, after its head has said 200.

import { deepEqual, ok, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { ledgerRow } from '../../harness/databases/ledger-row.ts'
import { until } from '../../harness/start-service.ts'

const lines: Record<string, unknown>[] = []
let service: FakeService
let key: string
before(async () => {
  const log = Object.assign(createLog('silent'), { info: (fields: Record<string, unknown>) => lines.push(fields) })
  service = await startFakeService({}, undefined, { log })
  const wanted = { name: 'all', role: 'owner', organizationId: null, expiresAtMs: null } as const
  key = (await createManagementKey(service.accounts, { kind: 'operator' }, wanted)).key
  const organization_id = service.home.organizationId
  for (let from = 0; from < 40_000; from += 500) {
    const rows = Array.from({ length: 500 }, (_, index) => ({ ...ledgerRow(from + index), organization_id }))
    await service.db.insertInto('ledger').values(rows).execute()
  }
})
after(() => service.close())

test('an export that fails midway is cut off, and logged as our failure instead of as its client leaving', async () => {
  const path = `/api/v1/organizations/${service.home.organizationId}/ledger/export?format=csv`
  const response = await fetch(`${service.address}${path}`, { headers: { authorization: `Bearer ${key}` } })
  deepEqual(response.status, 200)
  await sql`alter table ledger rename to ledger_gone`.execute(service.db)
  await rejects(response.text())
  const line = await until(() => lines.find((each) => String(each['path']).endsWith('/export')), 'There is no line.')
  deepEqual([line['status'], line['broke_off']], [200, 'internal'])
  ok((await service.metrics.expose()).text.includes('ledger/export",method="GET",status="200"'))
})

test('an export whose client leaves is logged as that', async () => {
  await sql`alter table ledger_gone rename to ledger`.execute(service.db)
  lines.length = 0
  const client = new AbortController()
  const path = `/api/v1/organizations/${service.home.organizationId}/ledger/export?format=csv`
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${service.address}${path}`, { headers, signal: client.signal })
  deepEqual(response.status, 200)
  client.abort()
  const line = await until(() => lines.find((each) => String(each['path']).endsWith('/export')), 'There is no line.')
  deepEqual([line['status'], line['broke_off']], [499, 'client-left'])
})
