import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { KyselyPlugin } from 'kysely'
import { openTestFeed } from '../../../test/harness/databases/change-feed.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { createChangeFeed, type ChangeFeed } from '../../db/change-feed.ts'
import type { Database } from '../../db/database.ts'
import { openDatabase } from '../../db/open-database.ts'
import { systemClock } from '../../lib/clock.ts'
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  setApiKeyDisabled,
  updateApiKey,
  type CreatedApiKey,
} from '../api-keys.ts'
import { importApiKey } from '../imported-keys.ts'
import { createKey } from '../key-format.ts'
import { listApiKeys } from '../read-api-keys.ts'
import { ensureDefaultHome, setOrganizationDisabled, type Home } from '../organizations.ts'
import type { AccountsParts } from '../parts.ts'
import { setProjectArchived } from '../projects.ts'
import { createAccessCache, type AccessCache, type AccessCacheOptions } from './access-cache.ts'

const operator = { kind: 'operator' } as const
const hashSecret = new Uint8Array(32)
const unavailable = { code: 'overloaded' }

/** A database that counts what it is asked, and answers late or not at all. */
function createFaulty(db: Database) {
  const state = { queries: 0, answers: 0, isAway: false, gate: Promise.resolve() }
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      state.queries += 1
      return node
    },
    async transformResult({ result }) {
      state.answers += 1
      if (state.isAway) throw new Error('The database is away.')
      await state.gate
      return result
    },
  }
  return { state, db: db.withPlugin(plugin) }
}

onEachDatabase((database) => {
  let db: Database
  let faulty: ReturnType<typeof createFaulty>
  let clock: ManualClock
  /** Changes that the cache under test is told of. */
  let here: AccountsParts
  /** Changes that another process makes. */
  let elsewhere: AccountsParts
  let home: Home
  let feed: ChangeFeed
  let cache: AccessCache
  const others: AccessCache[] = []

  beforeEach(async () => {
    db = await database.open()
    faulty = createFaulty(db)
    clock = createManualClock()
    elsewhere = { db, clock, hashSecret }
    home = await ensureDefaultHome(elsewhere)
    feed = openTestFeed(faulty.db, clock)
    cache = open()
    here = { ...elsewhere, accessChanged: () => cache.refresh() }
  })
  afterEach(async () => {
    for (const other of [cache, ...others.splice(0)]) await other.close()
    await feed.close()
    await db.destroy()
  })

  function open(changes: Partial<AccessCacheOptions> = {}): AccessCache {
    const times = { confirmBeforeUseMs: null, outageMs: 60_000 }
    return createAccessCache({ db: faulty.db, feed, clock, hashSecret, ...times, ...changes })
  }
  const create = (expiresAtMs: number | null = null) =>
    createApiKey(here, operator, { name: 'mine', ...home, rules: { expiresAtMs } })
  const refer = ({ id }: CreatedApiKey) => ({ id, organizationId: home.organizationId })
  const isKnown = async ({ key }: { readonly key: string }, asked = cache) => (await asked.find(key)) !== null
  const becomes = (expected: boolean, key: CreatedApiKey) =>
    until(async () => (await isKnown(key)) === expected, `The key did not become ${expected ? 'known' : 'unknown'}.`)

  test('a key in use, and a key that is none, cost no query', async () => {
    const [created, unknown, foreign] = [await create(), { key: createKey() }, { key: 'sk-proj-somebody-elses' }]
    for (const key of [created, unknown, foreign]) await isKnown(key)
    const { queries } = faulty.state
    for (let count = 0; count < 1_000; count += 1) {
      equal(await isKnown(created), true)
      equal(await isKnown(unknown), false)
      equal(await isKnown(foreign), false)
    }
    equal(faulty.state.queries, queries)
  })

  test('from where a key was used is written down within a minute, and only where that is wanted', async () => {
    const [key, kept] = [await create(), await create()]
    const careless = open({ keepsNetworks: false })
    others.push(careless)
    careless.noteUse((await careless.find(key.key))!, '203.0.113.1')
    cache.noteUse((await cache.find(kept.key))!, '198.51.100.1')
    clock.advance(60_250)
    const read = () => db.selectFrom('key_networks').select(['api_key_id', 'network']).execute()
    await until(async () => (await read()).length > 0, 'The network was not written down.')
    await careless.close()
    deepEqual(
      (await read()).map(({ api_key_id: id, network }) => [id, network]),
      [[kept.id, '198.51.100.0/24']],
    )
  })

  test('a key of another gateway works once it is moved here, and others of its look do not', async () => {
    const moved = { key: 'sk-pXk9Tn2-moved_here' }
    equal(await isKnown(moved), false)
    const sha256 = createHash('sha256').update(moved.key).digest('hex')
    const facts = { ...home, name: 'moved', lastFour: 'here', isDisabled: false, rules: {} }
    const { id, isNew } = await importApiKey(elsewhere, operator, { ...facts, sha256 })
    equal(isNew, true)
    clock.advance(1_000)
    await until(() => isKnown(moved), 'The key did not become known.')
    equal((await cache.find(moved.key))?.principal.apiKeyId, id)
    // What the other gateway has kept of a key is none itself.
    for (const key of [sha256, `sk-${sha256}`, `${moved.key}x`, moved.key.toLowerCase()]) {
      equal(await isKnown({ key }), false, key)
    }
    deepEqual(await importApiKey(here, operator, { ...facts, sha256 }), { id, isNew: false })
    await revokeApiKey(here, operator, { id, organizationId: home.organizationId })
    equal(await isKnown(moved), false)
    deepEqual(await importApiKey(here, operator, { ...facts, sha256 }), { id, isNew: false })
    equal(await isKnown(moved), false)
  })

  test('a change made here counts when it is answered', async () => {
    const created = await create()
    equal(await isKnown(created), true)
    await setApiKeyDisabled(here, operator, refer(created), true)
    equal(await isKnown(created), false)
    await setApiKeyDisabled(here, operator, refer(created), false)
    equal(await isKnown(created), true)
    await updateApiKey(here, operator, refer(created), { models: ['tycho-1.0'] })
    deepEqual([...((await cache.find(created.key))?.models ?? [])], ['tycho-1.0'])
    const next = await rotateApiKey(here, operator, refer(created), 0)
    deepEqual([await isKnown(created), await isKnown(next)], [false, true])
    await revokeApiKey(here, operator, refer(next))
    equal(await isKnown(next), false)
  })

  test('a change made elsewhere is found when the counter is next read', async () => {
    const created = await create()
    equal(await isKnown(created), true)
    await revokeApiKey(elsewhere, operator, refer(created))
    clock.advance(1_000)
    await becomes(false, created)
  })

  test('a key that was unknown is found once it is made elsewhere', async () => {
    const created = await create()
    await setApiKeyDisabled(here, operator, refer(created), true)
    equal(await isKnown(created), false)
    await setApiKeyDisabled(elsewhere, operator, refer(created), false)
    clock.advance(1_000)
    await becomes(true, created)
  })

  test('a change made elsewhere counts at once where each use reads the counter', async () => {
    const careful = open({ confirmBeforeUseMs: 20 })
    others.push(careful)
    const created = await create()
    equal(await isKnown(created, careful), true)
    await revokeApiKey(elsewhere, operator, refer(created))
    clock.advance(21)
    equal(await isKnown(created, careful), false)
  })

  test('a lookup that was overtaken by a change is not believed', async () => {
    const created = await create()
    const gate = Promise.withResolvers<void>()
    const { answers } = faulty.state
    faulty.state.gate = gate.promise
    const found = cache.find(created.key)
    // The lookup has its answer, which is held back until the key is no more.
    await until(() => faulty.state.answers > answers, 'Nothing was asked.')
    faulty.state.gate = Promise.resolve()
    await revokeApiKey(here, operator, refer(created))
    gate.resolve()
    equal(await found, null)
    equal(await isKnown(created), false)
  })

  test('while the database is away known keys work for a minute, unknown ones do not', async () => {
    const [known, later] = [await create(), await create()]
    equal(await isKnown(known), true)
    faulty.state.isAway = true
    await rejects(cache.find(later.key), unavailable)
    for (let seconds = 0; seconds < 60; seconds += 1) {
      equal(await isKnown(known), true, `${seconds} s`)
      equal(cache.isAvailable(), true, `${seconds} s`)
      clock.advance(1_000)
      await setImmediate()
    }
    clock.advance(1_000)
    await rejects(cache.find(known.key), unavailable)
    equal(cache.isAvailable(), false)
    equal(await cache.find('sk-ant-leftover'), null)
    faulty.state.isAway = false
    deepEqual([await isKnown(known), await isKnown(later)], [true, true])
    equal(cache.isAvailable(), true)
  })

  test('a change that is known of and cannot be read lets nobody in', async () => {
    const created = await create()
    equal(await isKnown(created), true)
    faulty.state.isAway = true
    await revokeApiKey(here, operator, refer(created))
    await rejects(cache.find(created.key), unavailable)
    faulty.state.isAway = false
    equal(await isKnown(created), false)
  })

  test('a database that does not answer keeps nobody waiting', async () => {
    const created = await create()
    const gate = Promise.withResolvers<void>()
    await cache.refresh()
    faulty.state.gate = gate.promise
    const refused = rejects(cache.find(created.key), unavailable)
    await setImmediate()
    clock.advance(250)
    await refused
    gate.resolve()
  })

  test('a key ends at its hour', async () => {
    const created = await create(clock.nowMs() + 5_000)
    const access = await cache.find(created.key)
    ok(access !== null)
    const ends: string[] = []
    cache.watch(access, (reason) => ends.push(reason))
    clock.advance(4_999)
    deepEqual([await isKnown(created), ends.length], [true, 0])
    clock.advance(1)
    equal(await isKnown(created), false)
    clock.advance(250)
    deepEqual(ends, ['key-ended'])
  })

  test('requests under way end with their key, and no others do', async () => {
    const ends: string[] = []
    const watch = async (name: string, created: CreatedApiKey) => {
      const access = await cache.find(created.key)
      ok(access !== null)
      return cache.watch(access, (reason) => ends.push(`${name} ${reason}`))
    }
    const [revoked, disabled, rotated, kept] = [await create(), await create(), await create(), await create()]
    await watch('revoked', revoked)
    await watch('disabled', disabled)
    await watch('rotated', rotated)
    await watch('kept', kept)
    const unwatch = await watch('over', revoked)
    unwatch()
    await revokeApiKey(here, operator, refer(revoked))
    await setApiKeyDisabled(here, operator, refer(disabled), true)
    await rotateApiKey(here, operator, refer(rotated), 1_000)
    deepEqual(ends.splice(0), ['revoked key-ended', 'disabled key-ended'])
    clock.advance(1_250)
    deepEqual(ends.splice(0), ['rotated key-ended'])
    await updateApiKey(here, operator, refer(kept), { name: 'still kept' })
    deepEqual(ends, [])
    await setProjectArchived(here, operator, { ...home, id: home.projectId }, true)
    deepEqual(ends.splice(0), ['kept project-archived'])
    await setProjectArchived(here, operator, { ...home, id: home.projectId }, false)
    await watch('kept', kept)
    await setOrganizationDisabled(here, operator, { ...home, isDisabled: true })
    deepEqual(ends, ['kept organization-disabled'])
    equal((await cache.find(kept.key))?.closed, 'organization-disabled')
  })

  test('a request that begins just as its key ends is ended too', async () => {
    const created = await create()
    const access = await cache.find(created.key)
    ok(access !== null)
    await revokeApiKey(here, operator, refer(created))
    const ended = Promise.withResolvers<string>()
    cache.watch(access, ended.resolve)
    equal(await ended.promise, 'key-ended')
  })

  test('the last use is written once a minute', async () => {
    const [used, unused] = [await create(), await create()]
    const lastUses = async () => {
      const { items } = await listApiKeys(here, operator, { organizationId: home.organizationId })
      return [used, unused].map((wanted) => items.find(({ id }) => id === wanted.id)?.lastUsedAtMs)
    }
    for (let count = 0; count < 10; count += 1) await isKnown(used)
    deepEqual(await lastUses(), [null, null])
    for (let seconds = 0; seconds < 61; seconds += 1) {
      clock.advance(1_000)
      await setImmediate()
    }
    await until(async () => (await lastUses())[0] !== null, 'The last use was not written.')
    deepEqual((await lastUses())[1], null)
  })

  if (database.name !== 'PostgreSQL') return

  test('other gateways are told of a change at once', async () => {
    const location = await database.createLocation()
    const gateways = await Promise.all([1, 2, 3].map(() => openGateway(location)))
    const [first, ...rest] = gateways
    ok(first !== undefined)
    const theirHome = await ensureDefaultHome(first.parts)
    const created = await createApiKey(first.parts, operator, { name: 'x', ...theirHome })
    for (const gateway of gateways) equal(await isKnown(created, gateway.cache), true)
    const startedMs = performance.now()
    await revokeApiKey(first.parts, operator, { id: created.id, organizationId: theirHome.organizationId })
    for (const gateway of rest) await until(async () => !(await isKnown(created, gateway.cache)), 'It was not told.')
    const tookMs = performance.now() - startedMs
    // Their counters are read far less often than that.
    ok(tookMs < 10_000, `${tookMs} ms`)
    for (const gateway of gateways) await gateway.close()
  })

  async function openGateway(location: Awaited<ReturnType<typeof database.createLocation>>) {
    const { databaseUrl: url } = location
    ok(url !== null)
    const own = await openDatabase(location)
    const clocks = { db: own, clock: systemClock }
    const heard = createChangeFeed({ ...clocks, readEveryMs: 600_000, listenUrl: url, onFailure() {} })
    const gateway = createAccessCache({
      ...clocks,
      feed: heard,
      hashSecret,
      confirmBeforeUseMs: null,
      outageMs: 3_600_000,
    })
    return {
      cache: gateway,
      parts: { db: own, clock: systemClock, hashSecret, accessChanged: () => gateway.refresh() },
      async close() {
        await heard.close()
        await gateway.close()
        await own.destroy()
      },
    }
  }
})
