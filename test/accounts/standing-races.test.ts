// Whoever changes something and whoever takes the right for it from them meet on PostgreSQL, held at the moment at which
// one waits for the other.

import { equal, rejects } from 'node:assert/strict'
import { sql } from 'kysely'
import { after, afterEach, before, beforeEach, suite, test } from 'node:test'
import { changeAccess } from '../../src/accounts/change-access.ts'
import { setInstallationRole } from '../../src/accounts/installation/people.ts'
import { createManagementKey, revokeManagementKey } from '../../src/accounts/management-keys.ts'
import { setMemberRole } from '../../src/accounts/members.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import { endMemberSessions } from '../../src/accounts/sign-in/session-lists.ts'
import type { UserPrincipal } from '../../src/core/principal.ts'
import { installationChain, joinTransaction } from '../../src/db/change.ts'
import type { Database } from '../../src/db/database.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { setTierLimit } from '../../src/limits/settings/tiers.ts'
import { createPostgresDatabase, type PostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { createManualClock } from '../harness/manual-clock.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { until } from '../harness/start-service.ts'
import { createCompany, type Company } from '../http/api/world.ts'

const operator = { kind: 'operator' } as const
const gone = { code: 'unauthenticated' }
const newKey = { name: 'k', role: 'owner', organizationId: null, expiresAtMs: null } as const

suite('on PostgreSQL', () => {
  let postgres: PostgresDatabase
  let db: Database
  let parts: AccountsParts
  let company: Company
  before(async () => {
    postgres = await createPostgresDatabase()
  })
  after(() => postgres.drop())
  beforeEach(async () => {
    db = connectPostgres(postgres.url)
    parts = { db, clock: createManualClock(Date.now()), hashSecret: new Uint8Array(32) }
    company = await createCompany(parts)
  })
  afterEach(() => db.destroy())

  const owner = async () => (await signInPerson(parts, { installationRole: 'owner' })).user
  const somebodyWaits = () =>
    until(async () => {
      const waiting = sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await waiting.execute(db)).rows.length > 0
    }, 'Nobody waits for a lock.')
  /** What comes of the second, which waits until the first is done. */
  async function meet<Result>(
    first: (held: AccountsParts) => Promise<unknown>,
    second: () => Promise<Result>,
  ): Promise<PromiseSettledResult<Result>> {
    const waiting = await db.transaction().execute(async (transaction) => {
      await first({ ...parts, db: joinTransaction(transaction) })
      const settled = Promise.allSettled([second()])
      await somebodyWaits()
      return { settled }
    })
    const [result] = await waiting.settled
    return result
  }
  async function refuse(result: PromiseSettledResult<unknown>): Promise<void> {
    await rejects(
      () => (result.status === 'rejected' ? Promise.reject(result.reason as Error) : Promise.resolve()),
      gone,
    )
  }
  const isRevoked = async (id: string) => {
    const row = await db
      .selectFrom('management_keys')
      .select('revoked_at')
      .where('id', '=', id as `mkey_${string}`)
      .executeTakeFirstOrThrow()
    return row.revoked_at !== null
  }

  test('whose role in the installation is being taken makes no key of it and changes nothing of it', async () => {
    const changes: readonly ((by: UserPrincipal) => Promise<unknown>)[] = [
      (by) => createManagementKey(parts, by, newKey),
      (by) => setTierLimit(parts, by, { tier: 'tier-1', model: '*', requestsPerMinute: 1 }),
    ]
    for (const attempt of changes) {
      const person = await owner()
      await owner()
      const take = (held: AccountsParts) => setInstallationRole(held, operator, { id: person.userId, role: null })
      await refuse(await meet(take, () => attempt(person)))
    }
  })

  test('a key that somebody makes of the installation while their role is taken ends with it', async () => {
    const person = await owner()
    await owner()
    const made: { id: string }[] = []
    const make = async (held: AccountsParts) => made.push(await createManagementKey(held, person, newKey))
    const take = () => setInstallationRole(parts, operator, { id: person.userId, role: 'admin' })
    equal((await meet(make, take)).status, 'fulfilled')
    equal(await isRevoked(made[0]?.id ?? ''), true)
  })

  test('of two owners who take the role from each other one is refused', async () => {
    const [one, other] = [await owner(), await owner()]
    const first = (held: AccountsParts) => setInstallationRole(held, one, { id: other.userId, role: 'admin' })
    await refuse(await meet(first, () => setInstallationRole(parts, other, { id: one.userId, role: 'admin' })))
  })

  test('a key that is being revoked makes no other', async () => {
    const { id } = await createManagementKey(parts, operator, newKey)
    const key = { kind: 'management-key', managementKeyId: id, organizationId: null, role: 'owner' } as const
    const revoke = (held: AccountsParts) => revokeManagementKey(held, operator, { id, organizationId: null })
    await refuse(await meet(revoke, () => createManagementKey(parts, key, newKey)))
  })

  test('who is being lowered ends nobody’s sessions', async () => {
    const { organizationId, members } = company
    const id = members.admin.memberId
    const lower = (held: AccountsParts) => setMemberRole(held, operator, { id, organizationId }, 'auditor')
    const whose = { organizationId, memberId: members.developer.memberId, id: null }
    const end = () => endMemberSessions({ ...parts, signIn: testSignIn }, members.admin, whose)
    await refuse(await meet(lower, end))
  })

  test('who changes something by a role that is being taken is done first, and nobody waits for ever', async () => {
    for (const organizationId of [company.organizationId, installationChain]) {
      const person = await owner()
      await owner()
      const taken: Promise<void>[] = []
      const action = { action: 'tests:wait', organizationId, target: person.userId }
      await changeAccess(parts, person, action, async () => {
        taken.push(setInstallationRole(parts, operator, { id: person.userId, role: null }))
        await somebodyWaits()
      })
      await Promise.all(taken)
    }
  })
})
