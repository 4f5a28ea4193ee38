// How people get in: the first owner by a link, later by a passkey or a password, and how they get out again.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createConnection } from '../../../src/accounts/single-sign-on/connections.ts'
import { createRecoveryLink, createSetupLink } from '../../../src/accounts/sign-in/setup.ts'
import { totpCode } from '../../../src/accounts/sign-in/totp.ts'
import type { UserId } from '../../../src/core/ids.ts'
import { Authenticator, type Asked, type Deviation } from '../../harness/authenticator.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { testSignIn } from '../../harness/management.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { samePage } from '../../harness/sign-in.ts'
import { TestBrowser } from './browser.ts'
import { newConnection } from './sso-things.ts'

const operator = { kind: 'operator' } as const
const password = 'correct horse battery staple'
const credential = { kind: 'password', password } as const
const owner = { name: 'Ann Lee', email: 'ann@example.org', organizationName: 'Acme' }
const minuteMs = 60_000

onEachDatabase(({ open }) => {
  let service: ManagementService
  let browser: TestBrowser
  beforeEach(async () => {
    service = await openManagementService(await open())
    browser = new TestBrowser(service)
  })
  afterEach(() => service.close())

  const linkFor = async () => (await createSetupLink(service.accounts)) ?? ''
  const setUp = async () =>
    succeed(await browser.ask('POST', 'setup', { ...owner, token: await linkFor(), credential }))
  const signIn = (from = new TestBrowser(service), given: object = {}) =>
    from.ask('POST', 'session/password', { email: owner.email, password, ...given })
  const isSignedIn = async (asked: TestBrowser) => (await asked.ask('GET', 'session')).status === 200
  const auditActions = async () => {
    const rows = await service.db.selectFrom('audit').select('action').orderBy('at').execute()
    return rows.map(({ action }) => action)
  }
  const options = async (from: TestBrowser, body: object): Promise<Asked> =>
    succeed(await from.ask('POST', 'session/passkey/options', body)).body['publicKey'] as Asked

  describe('the first owner', () => {
    test('is made by the link once, owns the installation and the organization, and is signed in', async () => {
      deepEqual((await browser.ask('GET', 'setup')).body, { isNeeded: true })
      const token = await linkFor()
      const answer = succeed(await browser.ask('POST', 'setup', { ...owner, token, credential }))
      equal(answer.body['state'], 'signed-in')
      const { body } = await browser.ask('GET', 'session')
      deepEqual((body['installation'] as Record<string, unknown>)['role'], 'owner')
      const [membership] = body['memberships'] as Record<string, unknown>[]
      deepEqual([membership?.['role'], membership?.['organizationName']], ['owner', 'Acme'])
      deepEqual(membership?.['owners'], [{ name: 'Ann Lee' }])
      deepEqual((await browser.ask('GET', 'setup')).body, { isNeeded: false })
      equal((await new TestBrowser(service).ask('POST', 'setup', { ...owner, token, credential })).status, 404)
      equal(await createSetupLink(service.accounts), null)
      ok((await auditActions()).includes('users:create'))
    })

    test('is not made by a wrong link, one in whose place a newer one stands, or one of yesterday', async () => {
      const old = await linkFor()
      const token = await linkFor()
      for (const wrong of ['x', old]) {
        equal((await browser.ask('POST', 'setup', { ...owner, token: wrong, credential })).status, 401)
      }
      service.clock.sleep(24 * 60 * minuteMs)
      equal((await browser.ask('POST', 'setup', { ...owner, token, credential })).status, 401)
    })

    test('is one, of two who come with the link at once', async () => {
      const token = await linkFor()
      const ask = (email: string) =>
        new TestBrowser(service).ask('POST', 'setup', { ...owner, email, token, credential })
      const statuses = (await Promise.all([ask('a@example.org'), ask('b@example.org')])).map(({ status }) => status)
      equal(statuses.filter((status) => status === 200).length, 1, String(statuses))
      equal((await service.db.selectFrom('users').selectAll().execute()).length, 1)
    })

    test('keeps the link for another attempt where the password is too short', async () => {
      const token = await linkFor()
      const short = { kind: 'password', password: 'short' }
      equal((await browser.ask('POST', 'setup', { ...owner, token, credential: short })).status, 400)
      succeed(await browser.ask('POST', 'setup', { ...owner, token, credential }))
    })
  })

  describe('a passkey', () => {
    const authenticator = () => new Authenticator(samePage.origin)
    let passkey: Authenticator

    beforeEach(async () => {
      const token = await linkFor()
      passkey = authenticator()
      const asked = await options(browser, { for: 'setup', token, name: owner.name, email: owner.email })
      const response = passkey.create(asked)
      succeed(await browser.ask('POST', 'setup', { ...owner, token, credential: { kind: 'passkey', response } }))
    })

    const use = async (from: TestBrowser, deviation: Deviation = {}) => {
      const asked = await options(from, { for: 'sign-in' })
      return from.ask('POST', 'session/passkey', { response: passkey.get(asked, deviation) })
    }

    test('that opens an organization past its only provider is told of in the audit, and no other', async () => {
      const { db, accounts } = service
      const { organization_id: organizationId, id: memberId } = await db
        .selectFrom('members')
        .select(['organization_id', 'id'])
        .executeTakeFirstOrThrow()
      const id = await createConnection({ ...accounts, signIn: testSignIn }, operator, {
        ...newConnection,
        organizationId,
      })
      const told = async () => {
        const rows = await db
          .selectFrom('audit')
          .select(['actor', 'target', 'after'])
          .where('action', '=', 'connections:break-glass')
          .execute()
        return rows.map(({ actor, target, after }) => [actor, target, after])
      }
      await db.updateTable('connections').set({ state: 'on', break_glass_id: memberId }).where('id', '=', id).execute()
      succeed(await use(new TestBrowser(service)))
      deepEqual(await told(), [])
      await db.updateTable('connections').set({ enforced_at: 1 }).where('id', '=', id).execute()
      succeed(await use(new TestBrowser(service)))
      const byPasskey = [memberId, id, '{"method":"passkey"}']
      deepEqual(await told(), [byPasskey])
      const prove = async () => {
        const response = passkey.get(await options(browser, { for: 'proof' }))
        succeed(await browser.ask('POST', 'session/proof', { response }))
      }
      await prove()
      deepEqual(await told(), [byPasskey, byPasskey], 'A proof opens it as a sign-in does.')
      await db.updateTable('sessions').set({ connection_id: id }).execute()
      await prove()
      equal((await told()).length, 2, 'The provider itself vouches for this session.')
    })

    test('and a recovery code sign in its person while passwords are guessed for the account', async () => {
      const { codes } = succeed(await browser.ask('POST', 'me/recovery-codes')).body as { codes: string[] }
      const guess = async (number: number) => {
        const from = new TestBrowser(service, `198.51.${number}.2`)
        return (await from.ask('POST', 'session/password', { email: owner.email, password })).status
      }
      for (let number = 0; number < 10; number += 1) equal(await guess(number), 401)
      equal(await guess(10), 429)
      succeed(await use(new TestBrowser(service)))
      const recovery = { email: owner.email, recoveryCode: codes[0] }
      succeed(await new TestBrowser(service).ask('POST', 'session/recovery', recovery))
    })

    test('signs in its person, who is not asked for an address', async () => {
      const other = new TestBrowser(service)
      succeed(await use(other))
      const { body } = await other.ask('GET', 'session')
      equal((body['user'] as Record<string, unknown>)['email'], owner.email)
      equal((body['proof'] as Record<string, unknown>)['method'], 'passkey')
    })

    const wrong: Readonly<Record<string, Deviation>> = {
      'for another site': { origin: 'https://evil.example' },
      'for a host of another name': { rpId: 'example.com' },
      'with a challenge of its own': { challenge: 'A'.repeat(43) },
      'that was made, not used': { type: 'webauthn.create' },
      'in a frame of another site': { crossOrigin: true },
      'without its user being there': { flags: 0x04 },
      'without its user being known to it': { flags: 0x01 },
      'signed by another key': { key: privateKeyOfAnother() },
    }
    for (const [what, deviation] of Object.entries(wrong)) {
      test(`does not sign in ${what}`, async () => {
        const other = new TestBrowser(service)
        equal((await use(other, deviation)).status, 401)
        equal(await isSignedIn(other), false)
      })
    }

    test('does not sign in when its counter goes back', async () => {
      succeed(await use(new TestBrowser(service), { counter: 7 }))
      equal((await use(new TestBrowser(service), { counter: 7 })).status, 401)
      equal((await use(new TestBrowser(service), { counter: 6 })).status, 401)
      succeed(await use(new TestBrowser(service), { counter: 8 }))
    })

    test('does not sign in with a challenge twice, in another browser, or after five minutes', async () => {
      const other = new TestBrowser(service)
      const asked = await options(other, { for: 'sign-in' })
      const response = passkey.get(asked)
      const stranger = new TestBrowser(service)
      await options(stranger, { for: 'sign-in' })
      equal((await stranger.ask('POST', 'session/passkey', { response })).status, 401)
      equal((await other.ask('POST', 'session/passkey', { response })).status, 401, 'It was used up by the stranger.')
      const late = await options(other, { for: 'sign-in' })
      service.clock.advance(5 * minuteMs)
      equal((await other.ask('POST', 'session/passkey', { response: passkey.get(late) })).status, 401)
    })

    test('is added and removed, and the last way in stays', async () => {
      const second = authenticator()
      const asked = await options(browser, { for: 'add' })
      succeed(await browser.ask('POST', 'me/passkeys', { name: 'Phone', response: second.create(asked) }))
      const { body } = await browser.ask('GET', 'me')
      const names = (body['passkeys'] as Record<string, unknown>[]).map(({ name }) => name)
      deepEqual(new Set(names), new Set(['Passkey', 'Phone']))
      equal((await browser.ask('DELETE', `me/passkeys/${passkey.id}`)).status, 204)
      equal((await use(new TestBrowser(service))).status, 401)
      equal((await browser.ask('DELETE', `me/passkeys/${second.id}`)).status, 409)
    })

    test('is not added when it was made for another host or signs for nothing, and not twice', async () => {
      const second = authenticator()
      const add = async (change: (response: ReturnType<Authenticator['create']>) => unknown, deviation?: Deviation) => {
        const response = second.create(await options(browser, { for: 'add' }), deviation)
        return browser.ask('POST', 'me/passkeys', { name: 'Phone', response: change(response) })
      }
      equal((await add((response) => response, { rpId: 'example.com' })).status, 400)
      const nothing = Buffer.from('{}').toString('base64url')
      const forNothing = await add((made) => ({ ...made, response: { ...made.response, clientDataJSON: nothing } }))
      equal(forNothing.status, 401)
      succeed(await add((response) => response))
      equal((await add((response) => response)).status, 400)
    })

    test('proves anew who somebody is, and not who somebody else is', async () => {
      service.clock.advance(11 * minuteMs)
      const removal = () => browser.ask('DELETE', 'sessions')
      const refused = await removal()
      deepEqual([refused.status, refused.body['type']], [403, 'urn:odyssey:problem:proof-needed'])
      const stolen = browser.copy()
      const asked = await options(browser, { for: 'proof' })
      equal((await browser.ask('POST', 'session/proof', { response: authenticator().get(asked) })).status, 401)
      const again = await options(browser, { for: 'proof' })
      succeed(await browser.ask('POST', 'session/proof', { response: passkey.get(again) }))
      equal((await removal()).status, 204)
      equal(await isSignedIn(stolen), false, 'The session got another token.')
    })
  })

  describe('a password', () => {
    beforeEach(setUp)

    test('signs in its person, whatever the capitals of the address', async () => {
      const other = new TestBrowser(service)
      succeed(await signIn(other, { email: ' Ann@Example.ORG ' }))
      equal(await isSignedIn(other), true)
      ok((await auditActions()).includes('sessions:create'))
    })

    test('signs in at the addresses of this machine by number, where browsers have no passkeys, and at no other', async () => {
      const at = (host: string, path: string, body: object) =>
        service.ask({
          method: 'POST',
          path: `/api/v1/session/${path}`,
          headers: { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
          body,
        })
      for (const host of ['127.0.0.1:8080', '[::1]:8080']) {
        const { headers } = succeed(await at(host, 'password', { email: owner.email, password }))
        match(String(headers['set-cookie']), /^odyssey=/)
        const refused = await at(host, 'passkey/options', { for: 'sign-in' })
        deepEqual([refused.status, /HTTPS and at http:\/\/localhost/.test(refused.text)], [400, true])
      }
      equal((await at('192.0.2.7:8080', 'password', { email: owner.email, password })).status, 403)
    })

    test('the password of an unknown address is refused in the same words as a wrong one', async () => {
      const answers = [
        await signIn(browser.copy(), { password: 'wrong horse battery staple' }),
        await signIn(browser.copy(), { email: 'nobody@example.org' }),
      ]
      for (const { status, body } of answers) {
        deepEqual([status, body['detail']], [401, 'That did not sign you in.'])
      }
    })

    test('is guessed ten times a minute at most, whether the account is there or not', async () => {
      for (const email of [owner.email, 'nobody@example.org']) {
        let address = 0
        const guess = (given: object) => {
          address += 1
          const from = new TestBrowser(service, `198.51.${address}.${email.length}`)
          return signIn(from, { email, ...given })
        }
        for (let count = 0; count < 10; count += 1) equal((await guess({ password: `wrong ${count}` })).status, 401)
        const held = await guess({})
        equal(held.status, 429)
        match(String(held.headers['retry-after']), /^\d+$/)
      }
      service.clock.advance(minuteMs)
      succeed(await signIn(new TestBrowser(service, '203.0.113.9')))
    })

    const attacker = (number: number) => new TestBrowser(service, `198.51.${number}.1`)
    const person = () => new TestBrowser(service, '203.0.113.9')

    test('is taken from its person’s network while it is guessed on and on from another one', async () => {
      let lookedAt = 0
      for (let count = 0; count < 180; count += 1) {
        const { status } = await signIn(attacker(1), { password: `wrong ${count}` })
        equal([401, 429].includes(status), true, String(status))
        if (status === 401) lookedAt += 1
        if (count % 20 === 0) succeed(await signIn(person()))
        service.clock.advance(10_000)
      }
      ok(lookedAt <= 11, `${lookedAt} guesses in half an hour`)
    })

    test('is taken once others have stopped, however often its person has asked meanwhile', async () => {
      for (let number = 0; number < 10; number += 1) await signIn(attacker(number), { password: 'wrong' })
      for (let count = 0; count < 8; count += 1) equal((await signIn(person())).status, 429)
      service.clock.advance(minuteMs)
      succeed(await signIn(person()))
    })

    test('is taken in a browser in which its person has signed in before while it is guessed from any number of networks', async () => {
      const known = person()
      succeed(await signIn(known))
      const stranger = new TestBrowser(service, '203.0.113.77')
      for (let number = 0; number < 10; number += 1) await signIn(attacker(number), { password: 'wrong' })
      for (let round = 0; round < 3; round += 1) {
        equal((await signIn(attacker(100 + round), { password: 'wrong' })).status, 429)
        equal((await signIn(stranger)).status, 429)
        succeed(await signIn(known))
      }
      const name = '__Host-odyssey-device'
      const device = known.cookies.get(name) ?? ''
      match(device, /^[\w-]{43}\.[\da-f]{32}$/)
      const others = [device.replace(/.$/, (last) => (last === '0' ? '1' : '0')), `A${device.slice(1)}`, `${device}.`]
      for (const other of others.filter((one) => one !== device)) {
        stranger.cookies.set(name, other)
        equal((await signIn(stranger)).status, 429)
      }
    })

    test('is guessed no more often in a browser in which its person, or somebody else, has signed in before', async () => {
      const known = person()
      succeed(await signIn(known))
      const wrong = async (email: string) => (await signIn(known, { email, password: 'wrong' })).status
      for (const email of [owner.email, 'nobody@example.org']) {
        for (let number = 0; number < 10; number += 1) await signIn(attacker(number), { email, password: 'wrong' })
      }
      equal(await wrong('nobody@example.org'), 429)
      for (let count = 0; count < 5; count += 1) equal(await wrong(owner.email), 401)
      equal(await wrong(owner.email), 429)
      service.clock.advance(5 * minuteMs)
      succeed(await signIn(known))
    })

    test('is known no more to the browsers of whoever had its address before', async () => {
      const former = person()
      succeed(await signIn(former))
      const [user] = await service.db.selectFrom('users').selectAll().execute()
      const next = { ...user!, id: 'usr_next' as const }
      await service.db.insertInto('users').values(next).execute()
      await service.db.updateTable('user_emails').set({ user_id: next.id }).where('email', '=', owner.email).execute()
      for (let number = 0; number < 10; number += 1) await signIn(attacker(number), { password: 'wrong' })
      equal((await signIn(former, { password: 'wrong' })).status, 429)
    })

    test('that was guessed leaves no count behind for longer than it means something', async () => {
      const rows = () => service.db.selectFrom('sign_in_failures').select('account').execute()
      for (let number = 0; number < 20; number += 1) await signIn(attacker(number), { email: `${number}@x.example` })
      equal((await rows()).length, 40)
      service.clock.advance(6 * minuteMs)
      await signIn(attacker(1), { email: 'another@x.example' })
      equal((await rows()).length, 2)
    })

    test('begins anew with the wrong ones that it forgives, once the right one has come', async () => {
      service.clock.advance(10 * minuteMs)
      for (let round = 0; round < 2; round += 1) {
        for (let count = 0; count < 6; count += 1) {
          const from = new TestBrowser(service, `198.51.${100 + round}.${count}`)
          equal((await signIn(from, { password: `wrong ${count}` })).status, 401)
        }
        succeed(await signIn(new TestBrowser(service, `203.0.113.${10 + round}`)))
      }
    })

    test('waits for the code of the authenticator app, which counts once', async () => {
      const { body } = succeed(await browser.ask('POST', 'me/totp'))
      const secret = String(body['secret'])
      const code = () => totpCode(secret, Math.floor(service.clock.nowMs() / 30_000))
      equal((await browser.ask('POST', 'me/totp/confirm', { code: '000000' })).status, 400)
      succeed(await browser.ask('POST', 'me/totp/confirm', { code: code() }))
      const other = new TestBrowser(service)
      equal((await signIn(other)).body['state'], 'totp')
      equal(await isSignedIn(other), false)
      const before = new Map(other.cookies)
      equal((await other.ask('POST', 'session/totp', { code: code() })).status, 401, 'It was used to confirm.')
      service.clock.advance(minuteMs)
      equal((await other.ask('POST', 'session/totp', { code: code() })).body['state'], 'signed-in')
      equal(await isSignedIn(other), true)
      notEqual(other.cookies.get('__Host-odyssey'), before.get('__Host-odyssey'))
      const third = new TestBrowser(service)
      equal((await signIn(third)).body['state'], 'totp')
      equal((await third.ask('POST', 'session/totp', { code: code() })).status, 401)
      service.clock.advance(6 * minuteMs)
      equal(
        (await third.ask('POST', 'session/totp', { code: code() })).status,
        401,
        'The password was given too long ago.',
      )
    })

    test('goes with a recovery code in the place of the authenticator app, which counts once', async () => {
      const secret = String(succeed(await browser.ask('POST', 'me/totp')).body['secret'])
      const code = totpCode(secret, Math.floor(service.clock.nowMs() / 30_000))
      succeed(await browser.ask('POST', 'me/totp/confirm', { code }))
      const { codes } = succeed(await browser.ask('POST', 'me/recovery-codes')).body as { codes: string[] }
      equal(codes.length, 10)
      const [recoveryCode = ''] = codes
      equal((await browser.ask('POST', 'session/recovery', { email: owner.email, recoveryCode })).status, 401)
      for (const expected of [200, 401]) {
        const other = new TestBrowser(service)
        await signIn(other)
        const given = { recoveryCode: recoveryCode.toLowerCase() }
        equal((await other.ask('POST', 'session/totp', given)).status, expected)
      }
      equal((await browser.ask('GET', 'me')).body['recoveryCodesLeft'], 9)
    })

    test('is replaced by the link of the command line, which ends the sessions there are', async () => {
      const { id } = (await browser.ask('GET', 'session')).body['user'] as { id: UserId }
      const token = await createRecoveryLink(service.accounts, id)
      const renewed = { kind: 'password', password: 'another horse battery staple' }
      const other = new TestBrowser(service)
      succeed(await other.ask('POST', 'session/link', { token, credential: renewed }))
      equal(await isSignedIn(other), true)
      equal(await isSignedIn(browser), false)
      equal((await signIn()).status, 401)
      succeed(await signIn(new TestBrowser(service), { password: renewed.password }))
      equal((await other.ask('POST', 'session/link', { token, credential: renewed })).status, 401)
    })

    test('stays beside what is made with that link, with every other way in, unless the link ends them', async () => {
      const { id } = (await browser.ask('GET', 'session')).body['user'] as { id: UserId }
      const { codes } = succeed(await browser.ask('POST', 'me/recovery-codes')).body as { codes: string[] }
      const secret = String(succeed(await browser.ask('POST', 'me/totp')).body['secret'])
      succeed(await browser.ask('POST', 'me/totp/confirm', { code: totpCode(secret, service.clock.nowMs() / 30_000) }))
      const open = async (from: TestBrowser, endsOthers: boolean) => {
        const token = await createRecoveryLink(service.accounts, id, { endsOthers })
        const asked = await options(from, { for: 'link', token })
        const response = new Authenticator(samePage.origin).create(asked)
        succeed(await from.ask('POST', 'session/link', { token, credential: { kind: 'passkey', response } }))
        const { body } = succeed(await from.ask('GET', 'me'))
        const known = (asked as unknown as { readonly excludeCredentials: unknown[] }).excludeCredentials.length
        const passkeys = (body['passkeys'] as unknown[]).length
        return [known, passkeys, body['hasPassword'], body['hasTotp'], body['recoveryCodesLeft']]
      }
      const [first, second, third] = [new TestBrowser(service), new TestBrowser(service), new TestBrowser(service)]
      deepEqual(await open(first, false), [0, 1, true, true, 10])
      deepEqual(await open(second, false), [1, 2, true, true, 10])
      deepEqual(await open(third, true), [0, 1, false, false, 0])
      deepEqual([await isSignedIn(second), await isSignedIn(third)], [false, true])
      equal((await signIn()).status, 401)
      const [recoveryCode = ''] = codes
      equal(
        (await new TestBrowser(service).ask('POST', 'session/recovery', { email: owner.email, recoveryCode })).status,
        401,
      )
      ok((await auditActions()).includes('owners:replace'))
    })
  })
})

function succeed(answer: Answer): Answer {
  equal(answer.status, 200, answer.text)
  return answer
}

function privateKeyOfAnother() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey
}
