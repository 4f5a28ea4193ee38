// Transactions that meet on PostgreSQL, held at the moment at which it matters who waits for whom.

import { equal } from 'node:assert/strict'
import { sql } from 'kysely'
import { after, afterEach, before, beforeEach, suite, test } from 'node:test'
import { lockOrganization } from '../../src/accounts/members.ts'
import { createRecoveryLink } from '../../src/accounts/sign-in/setup.ts'
import type { UserId } from '../../src/core/ids.ts'
import { countChange } from '../../src/db/changes.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { Authenticator, type Asked } from '../harness/authenticator.ts'
import { createPostgresDatabase, type PostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { samePage } from '../harness/sign-in.ts'
import { until } from '../harness/start-service.ts'
import { TestBrowser } from '../http/api/browser.ts'
import { addTriedConnection } from '../http/api/sso-things.ts'
import { createCompany, type Company } from '../http/api/world.ts'

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
})
