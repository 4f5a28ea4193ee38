// What becomes of a request whose transaction PostgreSQL undoes, so that another one which it waits for can go on.

import { deepEqual, equal } from 'node:assert/strict'
import { sql } from 'kysely'
import { after, afterEach, before, beforeEach, suite, test } from 'node:test'
import { createRecoveryLink } from '../../src/accounts/sign-in/setup.ts'
import { lockChainEnd } from '../../src/db/audit-chain.ts'
import { installationChain } from '../../src/db/change.ts'
import { countChange } from '../../src/db/changes.ts'
import type { Database } from '../../src/db/database.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { interleave } from '../harness/databases/interleave.ts'
import { secondGateway } from '../harness/databases/second-gateway.ts'
import { createPostgresDatabase, type PostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { TestBrowser } from '../http/api/browser.ts'
import { createCompany } from '../http/api/world.ts'

const credential = { kind: 'password', password: 'correct horse battery staple' } as const

suite('on PostgreSQL', () => {
  let postgres: PostgresDatabase
  let service: ManagementService
  before(async () => {
    postgres = await createPostgresDatabase()
  })
  after(() => postgres.drop())
  beforeEach(async () => {
    service = await openManagementService(connectPostgres(postgres.url))
  })
  afterEach(() => service.close())

  const linkOfSomebody = async () => {
    const { user } = await signInPerson(service.accounts, { installationRole: 'owner' })
    return createRecoveryLink(service.accounts, user.userId)
  }

  /** Takes what others take last, then what they take first, and never is the one of two that gives way. */
  const standInTheWay = (db: Database) =>
    db.transaction().execute(async (transaction) => {
      await sql`set local deadlock_timeout = '1h'`.execute(transaction)
      await lockChainEnd(transaction, installationChain)
      await countChange(transaction, 'access')
    })

  /** Every change of a table fails, as where others stand in the way each time. */
  const failEachTime = async (table: string, code: string) => {
    await sql`
      create or replace function undo() returns trigger language plpgsql as
      $$ begin raise exception 'undone' using errcode = ${sql.lit(code)}; end $$`.execute(service.db)
    await sql`
      create or replace trigger undo before insert or update on ${sql.table(table)}
      for each row execute function undo()`.execute(service.db)
    return () => sql`drop trigger undo on ${sql.table(table)}`.execute(service.db)
  }

  test('a sign-in that was undone for another transaction is done all the same', async () => {
    const token = await linkOfSomebody()
    const answers: Answer[] = []
    await interleave(
      service.db,
      ['one_time_links'],
      async (db) => {
        const gateway = await secondGateway({ ...service, db })
        answers.push(await new TestBrowser(gateway).ask('POST', 'session/link', { token, credential }))
        await gateway.close()
      },
      () => standInTheWay(service.db),
    )
    deepEqual(
      answers.map(({ status, body }) => [status, body['state']]),
      [[200, 'signed-in']],
    )
  })

  for (const code of ['40P01', '40001']) {
    test(`a sign-in that is undone each time may be tried again later (${code})`, async () => {
      const token = await linkOfSomebody()
      const stop = await failEachTime('sessions', code)
      const browser = new TestBrowser(service)
      const refused = await browser.ask('POST', 'session/link', { token, credential })
      await stop()
      deepEqual([refused.status, refused.headers['retry-after']], [503, '1'], refused.text)
      equal(refused.body['type'], 'urn:odyssey:problem:overloaded')
      equal((await browser.ask('POST', 'session/link', { token, credential })).status, 200)
    })
  }

  test('a change that is undone each time says that others are at it', async () => {
    const { organizationId } = await createCompany(service.accounts)
    const stop = await failEachTime('projects', '40P01')
    const asked = {
      method: 'POST',
      path: `/api/v1/organizations/${organizationId}/projects`,
      key: service.key,
    } as const
    const refused = await service.ask({ ...asked, body: { name: 'New' } })
    await stop()
    equal(refused.status, 409, refused.text)
    equal((await service.ask({ ...asked, body: { name: 'New' } })).status, 201)
  })
})
