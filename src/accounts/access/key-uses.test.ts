import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { KeyNetworks, keptDays, networksPerKeyMax } from './key-uses.ts'

const dayMs = 86_400_000
const key = { apiKeyId: 'key_one', organizationId: 'org_one' } as const
const other = { apiKeyId: 'key_two', organizationId: 'org_one' } as const

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let networks: KeyNetworks
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    networks = new KeyNetworks({ db, clock })
  })
  afterEach(() => db.destroy())

  async function readAll() {
    const rows = await db.selectFrom('key_networks').selectAll().orderBy('api_key_id').orderBy('network').execute()
    return rows.map((row) => ({ ...row }))
  }

  test('the networks of keys are kept with the day of their last use', async () => {
    const startMs = clock.nowMs()
    networks.note(key, '203.0.113.1')
    networks.note(key, '203.0.113.2')
    networks.note(key, '2001:db8:1::5')
    networks.note(other, '203.0.113.1')
    networks.note(key, 'no address')
    networks.note(key, undefined)
    await networks.write()
    clock.advance(dayMs - 1)
    networks.note(key, '203.0.113.3')
    await networks.write()
    const row = { organization_id: 'org_one', first_used_at: startMs, last_used_at: startMs }
    const expected = [
      { ...row, api_key_id: 'key_one', network: '2001:db8:1::/48' },
      { ...row, api_key_id: 'key_one', network: '203.0.113.0/24' },
      { ...row, api_key_id: 'key_two', network: '203.0.113.0/24' },
    ]
    deepEqual(await readAll(), expected, 'Within a day nothing is written again.')
    clock.advance(1)
    networks.note(key, '203.0.113.4')
    await networks.write()
    deepEqual(await readAll(), [expected[0], { ...expected[1], last_used_at: startMs + dayMs }, expected[2]])
  })

  test('several gateways that see the same network keep it once, with its first use', async () => {
    const startMs = clock.nowMs()
    networks.note(key, '203.0.113.1')
    await networks.write()
    clock.advance(60_000)
    const second = new KeyNetworks({ db, clock })
    second.note(key, '203.0.113.1')
    await second.write()
    deepEqual(
      (await readAll()).map((row) => [row.first_used_at, row.last_used_at]),
      [[startMs, startMs + 60_000]],
    )
  })

  test('a key that is used from everywhere fills no database', async () => {
    for (let number = 0; number < networksPerKeyMax + 50; number += 1) networks.note(key, `10.0.${number}.1`)
    await networks.write()
    networks.note(key, '10.1.0.1')
    networks.note(other, '10.1.0.1')
    await networks.write()
    const rows = await readAll()
    equal(rows.filter(({ api_key_id: id }) => id === key.apiKeyId).length, networksPerKeyMax)
    equal(rows.filter(({ api_key_id: id }) => id === other.apiKeyId).length, 1)
  })

  test('a network that a key was not used from for three months is forgotten', async () => {
    networks.note(key, '203.0.113.1')
    networks.note(key, '198.51.100.1')
    await networks.write()
    clock.advance(keptDays * dayMs)
    networks.note(key, '198.51.100.1')
    await networks.write()
    equal((await readAll()).length, 2)
    clock.advance(dayMs)
    await networks.write()
    deepEqual(
      (await readAll()).map(({ network }) => network),
      ['198.51.100.0/24'],
    )
  })

  test('what could not be written is noted again when the key is used again', async () => {
    networks.note(key, '203.0.113.1')
    await db.schema.alterTable('key_networks').renameTo('gone').execute()
    await rejects(networks.write())
    await db.schema.alterTable('gone').renameTo('key_networks').execute()
    await networks.write()
    equal((await readAll()).length, 0)
    networks.note(key, '203.0.113.1')
    await networks.write()
    equal((await readAll()).length, 1)
  })
})
