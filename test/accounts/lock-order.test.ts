// Transactions that meet on PostgreSQL, held at the moment at which it matters who waits for whom.

import { equal } from 'node:assert/strict'
import { sql } from 'kysely'
import { after, afterEach, before, beforeEach, describe, suite, test } from 'node:test'
import { lockOrganization } from '../../src/accounts/access/lock-organization.ts'
import { removePasskey } from '../../src/accounts/sign-in/factors.ts'
import { beginSession, findSession } from '../../src/accounts/sign-in/sessions.ts'
import { createRecoveryLink } from '../../src/accounts/sign-in/setup.ts'
import { enforceConnection } from '../../src/accounts/single-sign-on/enforcement.ts'
import type { ApiError } from '../../src/core/error.ts'
import type { UserId } from '../../src/core/ids.ts'
import { joinTransaction } from '../../src/db/change.ts'
import { countChange } from '../../src/db/changes.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { Authenticator, type Asked } from '../harness/authenticator.ts'
import { createPostgresDatabase, type PostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { testSignIn } from '../harness/management.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { samePage } from '../harness/sign-in.ts'
import { until } from '../harness/start-service.ts'
import { TestBrowser } from '../http/api/browser.ts'
import { addDomains, addTriedConnection } from '../http/api/sso-things.ts'
import { createCompany, type Company } from '../http/api/world.ts'

const operator = { kind: 'operator' } as const

suite('on PostgreSQL', () => {
  let postgres: PostgresDatabase
  let service: ManagementService
  let company: Company
  before(async () => {
    postgres = await createPostgresDatabase()
  })
  after(() => postgres.drop())
  beforeEach(async () => {
    service = await openManagementService(connectPostgres(postgres.url))
    company = await createCompany(service.accounts)
  })
  afterEach(() => service.close())

  const somebodyWaits = () =>
    until(async () => {
      const waiting = sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await waiting.execute(service.db)).rows.length > 0
    }, 'Nobody waits for a lock.')
  const userOf = async (memberId: string): Promise<UserId> => {
    const rows = service.db
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', memberId as `mem_${string}`)
    const { user_id } = await rows.executeTakeFirstOrThrow()
    return user_id as UserId
  }

  test('the link of an owner who comes in past the provider is used while their organization is changed', async () => {
    const { connectionId, breakGlassId } = await addTriedConnection(service.accounts, company)
    const enforced = { enforced_at: 1, break_glass_id: breakGlassId }
    await service.db.updateTable('connections').set(enforced).where('id', '=', connectionId).execute()
    const token = await createRecoveryLink(service.accounts, await userOf(breakGlassId))
    const browser = new TestBrowser(service)
    const asked = await browser.ask('POST', 'session/passkey/options', { for: 'link', token })
    const response = new Authenticator(samePage.origin).create(asked.body['publicKey'] as Asked)
    const used: Promise<Answer>[] = []
    await service.db.transaction().execute(async (transaction) => {
      await lockOrganization(transaction, company.organizationId)
      used.push(browser.ask('POST', 'session/link', { token, credential: { kind: 'passkey', response } }))
      await somebodyWaits()
      await countChange(transaction, 'access')
    })
    const [answer] = await Promise.all(used)
    equal(answer?.status, 200, JSON.stringify(answer?.body))
    const told = service.db.selectFrom('audit').select('target').where('action', '=', 'connections:break-glass')
    equal((await told.executeTakeFirstOrThrow()).target, connectionId)
  })
  describe('a passkey without which an owner does not come in past the provider', () => {
    const parts = (db = service.db) => ({ ...service.accounts, db, signIn: testSignIn })
    const set = async () => {
      const { connectionId: id, breakGlassId } = await addTriedConnection(service.accounts, company)
      const { organizationId } = company
      await addDomains(service.accounts, organizationId)
      const user_id = await userOf(breakGlassId)
      await service.db.insertInto('passwords').values({ user_id, phc: '', changed_at: 0 }).execute()
      const { id: passkey } = await service.db
        .selectFrom('passkeys')
        .select('id')
        .where('user_id', '=', user_id)
        .executeTakeFirstOrThrow()
      const where = { ...samePage, address: '192.0.2.1', agent: 'test' }
      const begun = { userId: user_id, method: 'passkey', state: 'open', ...where } as const
      const { token } = await service.db.transaction().execute((transaction) => {
        return beginSession(parts(), transaction, begun)
      })
      const session = await findSession(parts(), token, { keepsAwake: false })
      if (session === null) throw new Error('The owner is not signed in.')
      return { enforcing: { id, organizationId, breakGlassId }, remove: { session, passkey } }
    }

    test('is kept by whoever removes it while they are made that owner', async () => {
      const { enforcing, remove } = await set()
      const removed: Promise<unknown>[] = []
      await service.db.transaction().execute(async (transaction) => {
        await enforceConnection(parts(joinTransaction(transaction)), operator, enforcing)
        removed.push(removePasskey(parts(), remove.session, remove.passkey).catch((error: unknown) => error))
        await Promise.race([somebodyWaits(), ...removed])
      })
      const [refusal] = await Promise.all(removed)
      equal((refusal as ApiError | undefined)?.code, 'conflict')
    })

    test('does not make somebody that owner while they remove it', async () => {
      const { enforcing, remove } = await set()
      const enforced: Promise<unknown>[] = []
      await service.db.transaction().execute(async (transaction) => {
        await removePasskey(parts(joinTransaction(transaction)), remove.session, remove.passkey)
        enforced.push(enforceConnection(parts(), operator, enforcing).catch((error: unknown) => error))
        await Promise.race([somebodyWaits(), ...enforced])
      })
      const [refusal] = await Promise.all(enforced)
      equal((refusal as ApiError | undefined)?.code, 'conflict')
    })
  })
})
