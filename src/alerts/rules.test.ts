// What is told without anybody having set it: keys that end, requests that fail on our side, an hour that costs too much.

import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { createApiKey, revokeApiKey, updateApiKey } from '../accounts/api-keys.ts'
import { forgottenNetwork, keptDays, KeyNetworks } from '../accounts/access/key-uses.ts'
import { ensureDefaultHome, createOrganization, type Home } from '../accounts/organizations.ts'
import type { AccountsParts } from '../accounts/parts.ts'
import { insertRows } from '../billing/ledger/writer/insert-rows.ts'
import { UnservedCounts, writeUnserved } from '../billing/refusals/unserved.ts'
import { rollUp } from '../billing/usage/roll-up.ts'
import type { ApiKeyId } from '../core/ids.ts'
import type { Role } from '../core/role.ts'
import { usageTopics, alertTopics } from '../core/alert-topic.ts'
import type { Database } from '../db/database.ts'
import { listEvents } from './read-events.ts'
import { deleteOldEvents } from './deliver.ts'
import { tellCosts, tellDomains, tellFailing, tellKeyEnds, tellNewNetworks } from './rules.ts'

const operator = { kind: 'operator' } as const
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const topics = alertTopics.filter((topic) => !usageTopics.includes(topic))

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let parts: AccountsParts
  let home: Home
  let count = 0

  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    parts = { db, clock, hashSecret: new Uint8Array(32) }
    home = await ensureDefaultHome(parts)
  })
  afterEach(() => db.destroy())

  /** What was told, oldest first, as its topic and some of its data. */
  async function told(...fields: readonly string[]): Promise<readonly unknown[]> {
    const search = { organizationId: home.organizationId, topics, beforeSequence: null, limit: 100 }
    const events = await listEvents(parts, operator, search)
    return events.toReversed().map(({ topic, data }) => {
      const all = data as Readonly<Record<string, unknown>>
      return [topic, ...fields.map((field) => all[field])]
    })
  }

  async function add(fields: Partial<ReturnType<typeof ledgerRow>>, of = home): Promise<void> {
    count += 1
    const own = { organization_id: of.organizationId, project_id: of.projectId, at: clock.nowMs() - 1 }
    await insertRows(db, [{ ...ledgerRow(count), ...own, ...fields }])
  }

  test('a key that ends soon is told of fourteen and three days before, once each', async () => {
    const rules = { expiresAtMs: clock.nowMs() + 20 * dayMs }
    const { id } = await createApiKey(parts, operator, { name: 'ci', ...home, rules })
    await createApiKey(parts, operator, { name: 'without an end', ...home })
    await tellKeyEnds(parts)
    deepEqual(await told(), [])
    for (const days of [6, 1, 10, 1, 1]) {
      clock.advance(days * dayMs)
      await tellKeyEnds(parts)
      await tellKeyEnds(parts)
    }
    deepEqual(await told('apiKeyId', 'withinDays'), [
      ['key.ending', id, 14],
      ['key.ending', id, 3],
    ])
  })

  test('what was told of a key is shown to who may see keys, and to nobody else', async () => {
    const { organizationId } = home
    await createApiKey(parts, operator, { name: 'ci', ...home, rules: { expiresAtMs: clock.nowMs() + 2 * dayMs } })
    await tellKeyEnds(parts)
    const shownTo = async (role: Role) => {
      const member = { kind: 'member', memberId: 'mem_1', organizationId, role, projectIds: [] } as const
      const events = await listEvents(parts, member, { organizationId, topics, beforeSequence: null, limit: 100 })
      return events.map(({ topic }) => topic)
    }
    deepEqual([await shownTo('auditor'), await shownTo('billing')], [['key.ending'], []])
  })

  test('a key with another end is told of anew, and one that was revoked is not', async () => {
    const rules = { expiresAtMs: clock.nowMs() + 2 * dayMs }
    const [one, other] = [
      await createApiKey(parts, operator, { name: 'one', ...home, rules }),
      await createApiKey(parts, operator, { name: 'other', ...home, rules }),
    ]
    const { organizationId } = home
    await revokeApiKey(parts, operator, { id: other.id, organizationId })
    await tellKeyEnds(parts)
    await updateApiKey(parts, operator, { id: one.id, organizationId }, { expiresAtMs: clock.nowMs() + 10 * dayMs })
    await tellKeyEnds(parts)
    deepEqual(await told('apiKeyId', 'withinDays'), [
      ['key.ending', one.id, 3],
      ['key.ending', one.id, 14],
    ])
  })

  test('a key used from a new network is told of once, unless it is in its first day or has a list of addresses', async () => {
    const [laptop, server] = [
      await createApiKey(parts, operator, { name: 'laptop', ...home }),
      await createApiKey(parts, operator, { name: 'server', ...home, rules: { addresses: ['198.51.100.0/24'] } }),
    ]
    const networks = new KeyNetworks(parts)
    const use = async (address: string, { id }: { readonly id: ApiKeyId } = laptop) => {
      networks.note({ apiKeyId: id, organizationId: home.organizationId }, address)
      await networks.write()
      await tellNewNetworks(parts)
      await tellNewNetworks(parts)
    }
    await use('203.0.113.7')
    await use('198.51.100.1', server)
    clock.advance(dayMs - 1)
    await use('192.0.2.1')
    deepEqual(await told(), [], 'The first day shows where it is used from.')
    clock.advance(1)
    await use('203.0.113.9')
    deepEqual(await told(), [], 'It is the same network.')
    await use('2001:db8:7:1::1')
    await use('2001:db8:7:2::1')
    await use('198.51.100.200', server)
    clock.advance(hourMs)
    await use('198.51.100.9')
    deepEqual(await told('apiKeyId', 'name', 'network'), [
      ['key.new-network', laptop.id, 'laptop', '2001:db8:7::/48'],
      ['key.new-network', laptop.id, 'laptop', '198.51.100.0/24'],
    ])
  })

  test('a key that was not used for so long that its networks are forgotten is told of when it is used again', async () => {
    const { id } = await createApiKey(parts, operator, { name: 'dormant', ...home })
    const networks = new KeyNetworks(parts)
    const use = async (address: string) => {
      networks.note({ apiKeyId: id, organizationId: home.organizationId }, address)
      await networks.write()
      await tellNewNetworks(parts)
    }
    await use('203.0.113.7')
    clock.advance((keptDays + 1) * dayMs)
    await use('198.51.100.1')
    clock.advance(dayMs - 1)
    await use('192.0.2.1')
    clock.advance(keptDays * dayMs)
    await networks.write()
    clock.advance(dayMs)
    await networks.write()
    const kept = await db
      .selectFrom('key_networks')
      .select('network')
      .where('network', '<>', forgottenNetwork)
      .execute()
    deepEqual(kept, [], 'No network is kept for longer.')
    await use('203.0.113.7')
    deepEqual(await told('network'), [
      ['key.new-network', '198.51.100.0/24'],
      ['key.new-network', '192.0.2.0/24'],
      ['key.new-network', '203.0.113.0/24'],
    ])
  })

  const lookForFailing = async () => {
    await rollUp(db, { clock })
    await tellFailing(parts)
  }

  test('a domain whose record stays away is told of once when it is gone and once when it lapses, however long that is', async () => {
    const missing = { missing_since: clock.nowMs(), look_at: null, checked_at: clock.nowMs() }
    const row = { id: 'dom_1', organization_id: home.organizationId, name: 'example.com', token: 't' } as const
    await db
      .insertInto('domains')
      .values({ ...row, ...missing, verified_at: clock.nowMs(), created_at: clock.nowMs() })
      .execute()
    const tellings: unknown[] = []
    for (let day = 0; day < 100; day += 1) {
      if (day === 30) await db.updateTable('domains').set({ verified_at: null }).execute()
      const before = await told('isVerified')
      await tellDomains(parts)
      const after = await told('isVerified')
      if (after.length > before.length) tellings.push([day, after.at(-1)])
      clock.advance(dayMs)
      await deleteOldEvents(parts)
    }
    deepEqual(tellings, [
      [0, ['domain.record-missing', true]],
      [30, ['domain.record-missing', false]],
    ])
  })

  test('requests that fail on our side are told of once an hour, and a few among many are not', async () => {
    const other = await createOrganization(parts, operator, { name: 'Other' })
    for (let index = 0; index < 4; index += 1) await add({ outcome: 'failed' })
    await lookForFailing()
    deepEqual(await told(), [], 'Four are too few.')
    await add({ outcome: 'failed' })
    await add({})
    for (let index = 0; index < 200; index += 1) await add(index < 6 ? { outcome: 'failed' } : {}, other)
    await lookForFailing()
    await lookForFailing()
    deepEqual(await told('requests', 'failed'), [['requests.failing', 6, 5]])
    equal((await db.selectFrom('alert_events').select('id').execute()).length, 1, 'Six among two hundred are too few.')
    clock.advance(hourMs - 1)
    for (let index = 0; index < 5; index += 1) await add({ outcome: 'failed' })
    await lookForFailing()
    equal((await told()).length, 1)
    clock.advance(1)
    await lookForFailing()
    deepEqual(await told('requests', 'failed'), [
      ['requests.failing', 6, 5],
      ['requests.failing', 5, 5],
    ])
  })

  test('an outage in which requests are turned away without a row in the ledger is told of as one that fails them', async () => {
    const { organizationId } = home
    const counts = new UnservedCounts()
    for (let second = 0; second < 4; second += 1) {
      const atMs = clock.nowMs() - second * 1_000
      counts.add({ organizationId, model: null, fault: 'overloaded', atMs })
    }
    await db.transaction().execute((transaction) => writeUnserved(transaction, counts.take(), clock.nowMs()))
    await lookForFailing()
    deepEqual(await told(), [], 'Four are too few.')
    await add({ outcome: 'failed', reason: 'engine-failed' })
    await add({})
    await lookForFailing()
    deepEqual(await told('requests', 'failed'), [['requests.failing', 6, 5]])
  })

  test('requests that failed while the database was away are told of when it is back, and those of days ago are not', async () => {
    for (let index = 0; index < 100; index += 1) await add({ outcome: 'failed', at: clock.nowMs() - 25 * hourMs })
    await lookForFailing()
    deepEqual(await told(), [], 'Nobody can do anything about it any more.')
    const counts = new UnservedCounts()
    const { organizationId } = home
    counts.add({ organizationId, model: null, fault: 'overloaded', atMs: clock.nowMs() - 2 * hourMs })
    counts.add({ organizationId, model: null, fault: 'overloaded', atMs: clock.nowMs() - 25 * hourMs })
    await db.transaction().execute((transaction) => writeUnserved(transaction, counts.take(), clock.nowMs()))
    for (let index = 0; index < 4; index += 1) await add({ outcome: 'failed', at: clock.nowMs() - 3 * hourMs })
    await add({ at: clock.nowMs() - 2 * hourMs })
    await lookForFailing()
    deepEqual(await told('requests', 'failed'), [['requests.failing', 6, 5]])
    clock.advance(hourMs)
    await lookForFailing()
    equal((await told()).length, 1, 'Nothing has become known since.')
  })

  test('requests that their callers have made fail, and slow ones, are nothing to tell', async () => {
    await db
      .insertInto('sla_objectives')
      .values({
        id: 'slo_1',
        organization_id: '',
        effective_at: 0,
        availability_ppm: 999_000,
        basis: 'requests',
        down_share_ppm: 50_000,
        first_token_ms: 10,
        credits: '[]',
        created_at: 0,
      })
      .execute()
    for (let index = 0; index < 10; index += 1) {
      await add({ outcome: 'failed', reason: 'context-exceeded' })
      await add({ first_token_ms: 100, duration_ms: 200 })
    }
    await lookForFailing()
    deepEqual(await told(), [])
  })

  test('an hour that cost more than three times what its week did is told of once, with both figures', async () => {
    const begin = clock.nowMs() - (clock.nowMs() % hourMs)
    const spend = (hour: number, micros: number) =>
      add({ at: begin + hour * hourMs, price_id: 'price_x', cost_micros: micros, cost_rest_picos: 0 })
    for (let hour = 0; hour < 24; hour += 1) await spend(hour, 100)
    await spend(24, 300)
    await spend(25, 325)
    const lookAt = async (hour: number) => {
      clock.advance(begin + hour * hourMs + 5 * minuteMs - clock.nowMs())
      await rollUp(db)
      await tellCosts(parts)
      await tellCosts(parts)
    }
    await lookAt(24)
    await lookAt(25)
    deepEqual(await told(), [], 'Three times as much is not yet unusual.')
    await lookAt(26)
    deepEqual(await told('costMicros', 'usualCostMicros'), [['cost.unusual', '325', '108']])
    await lookAt(27)
    equal((await told()).length, 1, 'An hour without requests costs nothing.')
  })

  test('an hour that cost much is told of once also where its rows come hours later', async () => {
    const begin = clock.nowMs() - (clock.nowMs() % hourMs)
    const spend = (hour: number, micros: number) =>
      add({ at: begin + hour * hourMs, price_id: 'price_x', cost_micros: micros, cost_rest_picos: 0 })
    for (let hour = 0; hour < 24; hour += 1) await spend(hour, 100)
    clock.advance(begin + 30 * hourMs - clock.nowMs())
    await spend(24, 325)
    await rollUp(db)
    await tellCosts(parts)
    clock.advance(hourMs)
    await tellCosts(parts)
    deepEqual(await told('hour', 'costMicros'), [['cost.unusual', new Date(begin + 24 * hourMs).toISOString(), '325']])
  })

  test('an hour that costs much is nothing to tell where there were too few hours to compare it with', async () => {
    const begin = clock.nowMs() - (clock.nowMs() % hourMs)
    for (let hour = 0; hour < 10; hour += 1)
      await add({ at: begin + hour * hourMs, cost_micros: 1, cost_rest_picos: 0 })
    await add({ at: begin + 10 * hourMs, cost_micros: 1_000, cost_rest_picos: 0 })
    clock.advance(begin + 11 * hourMs + 5 * minuteMs - clock.nowMs())
    await rollUp(db)
    await tellCosts(parts)
    deepEqual(await told(), [])
  })
})
