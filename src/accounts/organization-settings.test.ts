// How long an organization lets its keys last, and whom it names for higher limits.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { ApiError } from '../core/error.ts'
import type { Database } from '../db/database.ts'
import { createApiKey, rotateApiKey, updateApiKey } from './api-keys.ts'
import { readKeyAccess } from './access/key-access.ts'
import { hashKey } from './key-format.ts'
import { readSettings, updateSettings } from './organization-settings.ts'
import { createOrganization, ensureDefaultHome, readOrganization, type Home } from './organizations.ts'
import type { AccountsParts } from './parts.ts'
import { readApiKey } from './read-api-keys.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000
const at = (field: string) => (error: unknown) =>
  error instanceof ApiError && error.reason.code === 'invalid-request' && error.reason.path?.[0] === field
const tooLong = at('expires')

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

  const unset = { contact: null, keyDaysMax: null, endUsers: 'hashed', tagKeys: [] }
  const set = (fields: Omit<Parameters<typeof updateSettings>[2], 'organizationId'>) =>
    updateSettings(parts, operator, { organizationId: home.organizationId, ...fields })
  const create = (expiresAtMs?: number | null) =>
    createApiKey(parts, operator, { name: 'k', ...home, rules: expiresAtMs === undefined ? {} : { expiresAtMs } })
  const endOf = async (id: string) =>
    (await readApiKey(parts, operator, { id, organizationId: home.organizationId })).rules.expiresAtMs

  test('what is not named stays, what is null goes, and another organization has its own', async () => {
    const other = await createOrganization(parts, operator, { name: 'Other' })
    await set({ contact: ' ops@example.org ', keyDaysMax: 30 })
    await set({ keyDaysMax: null })
    const { organizationId } = home
    deepEqual(await readSettings(parts, operator, organizationId), { ...unset, contact: 'ops@example.org' })
    equal((await readOrganization(parts, operator, organizationId)).contact, 'ops@example.org')
    await set({ contact: '  ' })
    deepEqual(await readSettings(parts, operator, organizationId), unset)
    deepEqual(await readSettings(parts, operator, other.organizationId), unset)
    await rejects(set({ keyDaysMax: 0 }), at('keyDaysMax'))
    await rejects(set({ contact: 'two\nlines' }), at('contact'))
  })

  test('two changes at the same moment of different settings are both kept', async () => {
    for (let days = 1; days <= 10; days += 1) {
      await Promise.all([set({ keyDaysMax: days }), set({ contact: `ops-${days}@example.org` })])
      const { keyDaysMax, contact } = await readSettings(parts, operator, home.organizationId)
      deepEqual({ keyDaysMax, contact }, { keyDaysMax: days, contact: `ops-${days}@example.org` })
    }
  })

  test('what is kept of whom requests are for reaches the keys of the organization at once', async () => {
    let heard = 0
    const told = {
      ...parts,
      accessChanged() {
        heard += 1
        return Promise.resolve()
      },
    }
    const { key } = await create()
    const read = async () => (await readKeyAccess(db, [hashKey(parts.hashSecret, key)]))[0]?.principal.attribution
    deepEqual(await read(), { endUsers: 'hashed', tagKeys: [] })
    const tagKeys = ['team', 'team', 'stage']
    await updateSettings(told, operator, { organizationId: home.organizationId, endUsers: 'off', tagKeys })
    equal(heard, 1)
    deepEqual(await read(), { endUsers: 'off', tagKeys: ['team', 'stage'] })
    await rejects(set({ tagKeys: ['two words'] }), at('tagKeys'))
    await rejects(set({ tagKeys: Array.from({ length: 17 }, (_, index) => `t${index}`) }), at('tagKeys'))
  })

  test('a new key ends within the days that are set: at the latest of them where nothing is said', async () => {
    await set({ keyDaysMax: 30 })
    const now = clock.nowMs()
    equal(await endOf((await create()).id), now + 30 * dayMs)
    equal(await endOf((await create(now + dayMs)).id), now + dayMs)
    await rejects(create(null), tooLong)
    await rejects(create(now + 30 * dayMs + 1), tooLong)
    await set({ keyDaysMax: null })
    equal(await endOf((await create()).id), null)
  })

  test('an older key keeps its end until somebody changes it, and a new one in its place ends as new ones do', async () => {
    const { organizationId } = home
    const { id } = await create()
    await set({ keyDaysMax: 30 })
    const now = clock.nowMs()
    await updateApiKey(parts, operator, { id, organizationId }, { name: 'renamed', expiresAtMs: null })
    equal(await endOf(id), null)
    await rejects(updateApiKey(parts, operator, { id, organizationId }, { expiresAtMs: now + 31 * dayMs }), tooLong)
    await updateApiKey(parts, operator, { id, organizationId }, { expiresAtMs: now + 30 * dayMs })
    await rejects(updateApiKey(parts, operator, { id, organizationId }, { expiresAtMs: null }), tooLong)
    clock.advance(dayMs)
    const next = await rotateApiKey(parts, operator, { id, organizationId }, 0)
    equal(await endOf(next.id), now + 30 * dayMs, 'It ends when the one before would have.')
    const endless = await create(clock.nowMs() + dayMs)
    await set({ keyDaysMax: null })
    await updateApiKey(parts, operator, { id: endless.id, organizationId }, { expiresAtMs: null })
    await set({ keyDaysMax: 7 })
    const later = await rotateApiKey(parts, operator, { id: endless.id, organizationId }, 0)
    equal(await endOf(later.id), clock.nowMs() + 7 * dayMs)
  })
})
