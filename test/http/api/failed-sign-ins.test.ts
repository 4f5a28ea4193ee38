import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { readAudit } from '../../../src/accounts/audit/read-audit.ts'
import { installationChain } from '../../../src/db/change.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { FailedAttempts } from '../../../src/http/api/failed-attempts.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'

const operator = { kind: 'operator' } as const
let service: ManagementService
beforeEach(async () => {
  service = await openManagementService(await openMemoryDatabase())
})
afterEach(() => service.close())

async function refusals() {
  const range = { organizationId: installationChain, afterSequence: 0, limit: 1_000 }
  const rows = await readAudit(service, operator, range)
  return rows.filter(({ action }) => action === 'sessions:refuse')
}
const attemptsOf = (rows: readonly { readonly after: unknown }[]) =>
  rows.map(({ after }) => (after as { attempts: number }).attempts)

test('a wrong password leaves a row with the account and the address, and one of nobody names none', async () => {
  const { user } = await signInPerson(service.accounts, { installationRole: 'auditor' })
  const { email } = await service.db
    .selectFrom('user_emails')
    .select('email')
    .where('user_id', '=', user.userId)
    .executeTakeFirstOrThrow()
  const signIn = (name: string) => {
    const body = { email: name, password: 'not the one' }
    const headers = { origin: 'http://localhost:8080', host: 'localhost:8080' }
    return service.ask({ method: 'POST', path: '/api/v1/session/password', body, headers, address: '192.0.2.7' })
  }
  equal((await signIn(email)).status, 401)
  equal((await signIn('nobody@example.org')).status, 401)
  const rows = await refusals()
  deepEqual(
    rows.map(({ actor, target, address }) => [actor, target, address]),
    [
      ['anonymous', user.userId, '192.0.2.7'],
      ['anonymous', 'nobody', '192.0.2.7'],
    ],
  )
  ok(!JSON.stringify(rows).includes('not the one'))
  ok(!JSON.stringify(rows).includes('@'), 'What somebody typed may be a password.')
})

test('a wrong management key leaves a row', async () => {
  equal((await service.ask({ path: '/api/v1/organizations', key: 'sk-odym-wrong', address: '192.0.2.8' })).status, 401)
  const [row] = await refusals()
  deepEqual([row?.address, row?.after], ['192.0.2.8', { ...(row?.after as object), shown: 'key', attempts: 1 }])
})

test('many attempts leave few rows, which say how many there were', async () => {
  const attempts = new FailedAttempts(service.clock, service.db)
  const hold = async (address: string) => {
    const held = attempts.hold(address)
    while (
      (await Promise.race([held.then(() => true), new Promise((resolve) => setImmediate(resolve, false))])) !== true
    ) {
      service.clock.advance(1_000)
    }
  }
  for (let made = 0; made < 100; made += 1) await hold('192.0.2.1')
  deepEqual(attemptsOf(await refusals()), [1, 2, 4, 8, 16, 32, 64])
  service.clock.advance(3_600_000)
  await hold('192.0.2.1')
  deepEqual(attemptsOf(await refusals()).at(-1), 1)
})

test('many networks leave no more than so many rows a minute', async () => {
  const attempts = new FailedAttempts(service.clock, service.db)
  const held: Promise<void>[] = []
  for (let number = 0; number < 150; number += 1) held.push(attempts.hold(`10.0.${number}.1`))
  while (held.length > 0) {
    await held.shift()
    service.clock.advance(10)
  }
  const rows = await refusals()
  ok(rows.length <= 70, `${rows.length} rows`)
  deepEqual(rows.at(-1)?.target, 'several')
  equal(rows.at(-1)?.address, null)
})
