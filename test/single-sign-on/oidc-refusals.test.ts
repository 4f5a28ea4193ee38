// Every forgery is one difference away from an answer that signs somebody in.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { forgeries } from './oidc-forgeries.ts'
import { openSso, type Sso } from './open-sso.ts'

onEachDatabase((database) => {
  let sso: Sso
  before(async () => {
    sso = await openSso(await database.open())
  })
  after(() => sso.close())
  afterEach(() => {
    sso.provider.lie = {}
  })

  const countAll = async () => {
    const { db } = sso.service
    const of = async (table: 'users' | 'members' | 'sessions' | 'identities') => {
      return (
        await db
          .selectFrom(table)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
      ).count
    }
    return [await of('users'), await of('members'), await of('sessions'), await of('identities')].map(Number)
  }
  const attemptsOf = async (id: string) => {
    const rows = await sso.service.db
      .selectFrom('login_attempts')
      .selectAll()
      .where('connection_id', '=', id as never)
      .execute()
    return rows.map(({ outcome, code }) => ({ outcome, code }))
  }

  describe('an answer of a provider', () => {
    for (const { name, code, lie, params: change, settings } of forgeries) {
      test(name, async () => {
        const connectionId = await sso.connect(settings)
        const browser = sso.browser()
        const known = await countAll()
        sso.provider.lie = lie?.(sso.provider) ?? {}
        const params = sso.provider.authorize(await browser.begin(connectionId))
        change?.(params)
        const answer = await browser.back(connectionId, params)
        equal(answer.status, 400)
        match(answer.text, /We could not sign you in/)
        equal(answer.text.includes(code), false)
        equal(browser.isSignedIn, false)
        deepEqual(await attemptsOf(connectionId), [{ outcome: 'refused', code }])
        deepEqual(await countAll(), known)
        equal(
          sso.provider.asked.some((path) => path.includes('evil')),
          false,
        )
      })
    }

    test('is taken when nothing of it is forged', async () => {
      const connectionId = await sso.connect()
      const browser = sso.browser()
      const [users = 0, members = 0, sessions = 0, identities = 0] = await countAll()
      const params = sso.provider.authorize(await browser.begin(connectionId, '?next=/o/org_1/keys'))
      const answer = await browser.back(connectionId, params)
      deepEqual([answer.status, answer.headers['location']], [303, '/o/org_1/keys'])
      deepEqual(await attemptsOf(connectionId), [{ outcome: 'signed-in', code: null }])
      deepEqual(await countAll(), [users + 1, members + 1, sessions + 1, identities + 1])
      equal((await browser.ask('GET', 'session')).status, 200)
    })
  })
})
