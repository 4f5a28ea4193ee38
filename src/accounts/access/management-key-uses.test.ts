import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { openManagementService, type ManagementService } from '../../../test/harness/management-service.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { installationChain } from '../../db/change.ts'
import { openMemoryDatabase } from '../../../test/harness/databases/memory-database.ts'
import { readAudit } from '../audit/read-audit.ts'
import { ManagementKeyUses } from './management-key-uses.ts'

const hourMs = 3_600_000
const principal = { kind: 'management-key', managementKeyId: 'mkey_1', organizationId: null, role: 'owner' } as const

onEachDatabase((database) => {
  let service: ManagementService
  beforeEach(async () => {
    service = await openManagementService(await database.open())
  })
  afterEach(() => service.close())

  const rowsOf = async (organizationId: OrganizationId = installationChain) => {
    const range = { organizationId, afterSequence: 0, limit: 1_000 }
    const rows = await readAudit(service, { kind: 'operator' }, range)
    return rows.filter(({ action }) => action === 'management-keys:use')
  }
  const toldOf = (rows: Awaited<ReturnType<typeof rowsOf>>) =>
    rows.map(({ after }) => after as { readonly network: string; readonly uses: number })
  const askFrom = async (address: string, key = service.key) =>
    (await service.ask({ path: '/api/v1/organizations', key, address })).status

  test('who has used a key, from where and how often stands in the audit of whom the key is for', async () => {
    const own = await service.createKey('admin', 'org_default')
    for (let made = 0; made < 3; made += 1) equal(await askFrom('192.0.2.7'), 200)
    equal(await askFrom('198.51.100.1'), 200)
    equal(await askFrom('2001:db8:1:2::3', own), 200)
    equal(await askFrom('192.0.2.7', `${service.key}x`), 401)
    await service.keyUses.write()
    const rows = await rowsOf()
    deepEqual(
      toldOf(rows).map(({ network, uses }) => [network, uses]),
      [
        ['192.0.2.0/24', 3],
        ['198.51.100.0/24', 1],
      ],
    )
    deepEqual(
      rows.map(({ address }) => address),
      ['192.0.2.7', '198.51.100.1'],
    )
    ok(rows.every(({ actor, target }) => actor === target && actor.startsWith('mkey_')))
    deepEqual(
      toldOf(await rowsOf('org_default')).map(({ network, uses }) => [network, uses]),
      [['2001:db8:1::/48', 1]],
    )
  })

  test('however often a key is used, a network has one row at first and one an hour, which say how often', async () => {
    for (let minute = 0; minute < 125; minute += 1) {
      for (let made = 0; made < 10; made += 1) service.keyUses.note(principal, '192.0.2.7')
      await service.keyUses.write()
      service.clock.advance(60_000)
    }
    deepEqual(
      toldOf(await rowsOf()).map(({ uses }) => uses),
      [10, 600, 600],
    )
    // Nobody has used it for an hour, so the next use is told at once.
    await service.keyUses.close()
    service.clock.advance(2 * hourMs)
    await service.keyUses.write()
    service.keyUses.note(principal, '192.0.2.7')
    await service.keyUses.write()
    deepEqual(
      toldOf(await rowsOf()).map(({ uses }) => uses),
      [10, 600, 600, 40, 1],
    )
  })

  test('a key that is used from everywhere leaves few rows, and no use is missing in their sum', async () => {
    for (let number = 0; number < 3_000; number += 1) {
      service.keyUses.note(principal, `10.${number % 10}.${number % 256}.1`)
    }
    await service.keyUses.write()
    const told = toldOf(await rowsOf())
    ok(told.length <= 21, `${told.length} rows`)
    equal(told.at(-1)?.network, 'several')
    equal(
      told.reduce((sum, { uses }) => sum + uses, 0),
      3_000,
    )
  })

  test('uses that could not be written are told when the database is back', async () => {
    const away = await openMemoryDatabase()
    await away.destroy()
    const parts = { db: away, clock: createManualClock() }
    const uses = new ManagementKeyUses(parts)
    uses.note(principal, '192.0.2.7')
    await rejects(uses.write())
    uses.note(principal, '192.0.2.7')
    parts.db = service.db
    await uses.write()
    await uses.write()
    deepEqual(
      toldOf(await rowsOf()).map((told) => told.uses),
      [2],
    )
  })
})
