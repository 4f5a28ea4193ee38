// What is refused of the way to a provider and back, beside the answer itself, and what ends a session that began so.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { readNext } from '../../src/accounts/single-sign-on/flows.ts'
import { createGuardedFetch } from '../../src/accounts/single-sign-on/oidc/guarded-fetch.ts'
import type { ConnectionId } from '../../src/core/ids.ts'
import { parseAddressList, type AddressList } from '../../src/lib/network/address-list.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { clientId, otherKey, signWith, type Lie } from './hostile-provider.ts'
import { openSso, type Sso, type SsoBrowser } from './open-sso.ts'

onEachDatabase((database) => {
  let sso: Sso
  before(async () => {
    sso = await openSso(await database.open())
  })
  after(() => sso.close())
  afterEach(() => {
    sso.provider.lie = {}
  })

  let people = 0
  /** Somebody new, so that nobody is known from the test before. */
  const somebodyNew = () => {
    people += 1
    const [sub, sid, email] = [`subject-${people}-of-ways`, `session-${people}`, `p${people}@acme.example`]
    sso.provider.lie = { ...sso.provider.lie, claims: (claims) => ({ ...claims, sub, sid, email }) }
    return { sub, sid }
  }
  const signIn = async (connectionId: ConnectionId, browser: SsoBrowser = sso.browser()) => {
    const answer = await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
    equal(answer.status, 303, answer.text)
    return browser
  }
  /** The provider's key under another name, which is another key for whoever reads it. */
  const underKey = (kid: string): Lie => ({
    keys: (keys) => keys.map((key) => ({ ...key, kid })),
    header: (header) => ({ ...header, kid }),
  })
  const isIn = async (browser: SsoBrowser) => (await browser.ask('GET', 'session')).status === 200

  describe('a sign-out that begins here', () => {
    const out = async (browser: SsoBrowser) => {
      const { status, body, text } = await browser.ask('POST', 'session/sign-out')
      equal(status, 200, text)
      return body['location'] as string | null
    }
    const withPlace = (end_session_endpoint: string) => {
      sso.provider.lie = { ...sso.provider.lie, discovery: (document) => ({ ...document, end_session_endpoint }) }
    }

    test('ends the session here at once, and goes on to the provider with the token that it has given', async () => {
      somebodyNew()
      withPlace('https://idp.example.com/logout?of=acme')
      const browser = await signIn(await sso.connect({ signsOutThere: true }))
      const location = new URL(String(await out(browser)))
      equal(await isIn(browser), false)
      equal(`${location.origin}${location.pathname}`, 'https://idp.example.com/logout')
      const { id_token_hint: hint = '', ...fields } = Object.fromEntries(location.searchParams)
      const back = 'https://ai.example.com/login'
      deepEqual(fields, { of: 'acme', client_id: clientId, post_logout_redirect_uri: back, state: 'signed-out' })
      equal(hint.split('.').length, 3)
      const rows = await sso.service.db.selectFrom('sessions').selectAll().execute()
      equal(JSON.stringify(rows).includes(hint), false)
    })

    test('goes nowhere where the connection does not want it or the provider has no place for it', async () => {
      somebodyNew()
      equal(await out(await signIn(await sso.connect({ signsOutThere: true }))), null)
      somebodyNew()
      withPlace('javascript:alert(1)')
      equal(await out(await signIn(await sso.connect({ signsOutThere: true }))), null)
      somebodyNew()
      withPlace('https://idp.example.com/logout')
      equal(await out(await signIn(await sso.connect())), null)
    })

    test('leaves nobody signed in here when the provider is away', async () => {
      somebodyNew()
      withPlace('https://idp.example.com/logout')
      const id = await sso.connect({ signsOutThere: true })
      const browser = await signIn(id)
      const { accounts } = sso.service
      const reference = { id, organizationId: sso.company.organizationId }
      // With another secret what was known of the provider counts no more.
      await updateConnection({ ...accounts, signIn: testSignIn }, { kind: 'operator' }, reference, {
        clientSecret: 'new',
      })
      sso.provider.lie = { discovery: () => ({}) }
      equal(await out(browser), null)
      equal(await isIn(browser), false)
    })
  })

  describe('a way to a provider', () => {
    test('48 ends in the browser that began it, and is still there for that one', async () => {
      somebodyNew()
      const connectionId = await sso.connect()
      const [begun, other] = [sso.browser(), sso.browser()]
      const params = sso.provider.authorize(await begun.begin(connectionId))
      await other.begin(connectionId)
      equal((await other.back(connectionId, params)).status, 400)
      equal((await sso.browser().back(connectionId, params)).status, 400)
      equal((await begun.back(connectionId, params)).status, 303)
    })

    test('49 ends at the connection that began it', async () => {
      somebodyNew()
      const [one, other] = [await sso.connect(), await sso.connect()]
      const browser = sso.browser()
      const params = sso.provider.authorize(await browser.begin(one))
      await browser.begin(other)
      equal((await browser.back(other, params)).status, 400)
      equal((await browser.back(one, params)).status, 303)
    })

    test('50 ends once, also where its end is sent twice at once', async () => {
      somebodyNew()
      // One that would exchange a code again and again.
      sso.provider.lie = { ...sso.provider.lie, isLax: true }
      const connectionId = await sso.connect()
      const browser = sso.browser()
      const params = sso.provider.authorize(await browser.begin(connectionId))
      const answers = await Promise.all([1, 2, 3, 4].map(() => browser.back(connectionId, params)))
      deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['303', '400', '400', '400'])
      equal((await browser.back(connectionId, params)).status, 400)
    })

    test('51 takes no code of another way, also from a provider that looks at no verifier', async () => {
      for (const isLax of [false, true]) {
        const connectionId = await sso.connect()
        const browser = sso.browser()
        sso.provider.lie = { isLax }
        const stolen = sso.provider.authorize(await browser.begin(connectionId))
        const params = sso.provider.authorize(await browser.begin(connectionId))
        params.set('code', stolen.get('code') ?? '')
        equal((await browser.back(connectionId, params)).status, 400)
      }
    })

    test('is over after ten minutes', async () => {
      const connectionId = await sso.connect()
      const browser = sso.browser()
      const params = sso.provider.authorize(await browser.begin(connectionId))
      sso.service.clock.advance(600_001)
      equal((await browser.back(connectionId, params)).status, 400)
    })

    test('32 asks anew who it is where that has to be shown, and takes no older word for it', async () => {
      const connectionId = await sso.connect()
      for (const [change, status] of [
        [(iat: number) => iat - 3_600, 400],
        [() => undefined, 400],
        [(iat: number) => iat, 303],
      ] as const) {
        const browser = sso.browser()
        const address = new URL(await browser.begin(connectionId, '?prove=1'))
        deepEqual([address.searchParams.get('prompt'), address.searchParams.get('max_age')], ['login', '0'])
        sso.provider.lie = {
          claims: (claims) => ({
            ...claims,
            sub: 'proving',
            email: 'proving@acme.example',
            auth_time: change(claims['iat'] as number),
          }),
        }
        equal((await browser.back(connectionId, sso.provider.authorize(address.href))).status, status)
      }
    })

    test('55 ends well for people of the tenant that was agreed, by either name of it, and for no others', async () => {
      const connectionId = await sso.connect({ tenant: 'acme.example' })
      const come = async (fields: Readonly<Record<string, string>>) => {
        const { sub, sid } = somebodyNew()
        const email = `${sub}@acme.example`
        sso.provider.lie = { claims: (claims) => ({ ...claims, sub, sid, email, ...fields }) }
        const browser = sso.browser()
        await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
        return browser.isSignedIn
      }
      deepEqual([await come({ tid: 'acme.example' }), await come({ hd: 'acme.example' })], [true, true])
      deepEqual([await come({}), await come({ tid: 'evil.example', hd: 'evil.example' })], [false, false])
    })

    test('46 does not begin where the description is of another issuer, or of all tenants', async () => {
      for (const issuer of ['https://other.example', `${sso.provider.issuer}/`, `${sso.provider.issuer}/{tenantid}`]) {
        const connectionId = await sso.connect()
        sso.provider.lie = { discovery: (document) => ({ ...document, issuer }) }
        equal((await sso.browser().go(`/sso/${connectionId}/start`)).status, 400, issuer)
      }
    })

    test('53 asks no address of the house, whoever names it', async () => {
      const connectionId = await sso.connect({}, 'http://localhost:1')
      equal((await sso.browser().go(`/sso/${connectionId}/start`)).status, 400)
      for (const field of ['jwks_uri', 'token_endpoint'] as const) {
        const chosen = await sso.connect()
        const secret = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.2')
        await once(secret, 'listening')
        let asked = 0
        secret.on('request', () => (asked += 1))
        const inside = `http://127.0.0.2:${(secret.address() as AddressInfo).port}/`
        sso.provider.lie = { discovery: (document) => ({ ...document, [field]: inside }) }
        const browser = sso.browser()
        const params = sso.provider.authorize(await browser.begin(chosen))
        equal((await browser.back(chosen, params)).status, 400)
        equal(asked, 0)
        secret.close()
      }
    })

    test('sends nobody to an address that is none of the web', async () => {
      const connectionId = await sso.connect()
      sso.provider.lie = { discovery: (document) => ({ ...document, authorization_endpoint: 'javascript:alert(1)' }) }
      equal((await sso.browser().go(`/sso/${connectionId}/start`)).status, 400)
    })

    test('11 reads the keys of the provider once for tokens with an unknown kid, and not for each', async () => {
      somebodyNew()
      const connectionId = await sso.connect()
      await signIn(connectionId)
      const askedBefore = sso.provider.asked.filter((path) => path === '/jwks').length
      sso.provider.lie = { header: (header) => ({ ...header, kid: 'unknown' }) }
      for (let round = 0; round < 5; round++) {
        const browser = sso.browser()
        await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
      }
      equal(sso.provider.asked.filter((path) => path === '/jwks').length - askedBefore <= 1, true)
    })

    test('11 goes on when the provider signs with a new key from one moment to the next', async () => {
      somebodyNew()
      const connectionId = await sso.connect()
      await signIn(connectionId)
      somebodyNew()
      sso.provider.lie = { ...sso.provider.lie, ...underKey('k2') }
      await signIn(connectionId)
    })

    test('leads nobody through a connection that is a draft, off or unknown', async () => {
      const connectionId = await sso.connect()
      for (const state of ['draft', 'off'] as const) {
        const browser = sso.browser()
        await sso.service.db.updateTable('connections').set({ state: 'on' }).where('id', '=', connectionId).execute()
        const params = sso.provider.authorize(await browser.begin(connectionId))
        await sso.service.db.updateTable('connections').set({ state }).where('id', '=', connectionId).execute()
        equal((await sso.browser().go(`/sso/${connectionId}/start`)).status, 400, state)
        equal((await browser.back(connectionId, params)).status, 400, state)
      }
      equal((await sso.browser().go('/sso/conn_none/start')).status, 400)
      equal((await sso.browser().go('/sso/conn_none/callback?state=x&code=y')).status, 400)
    })
  })

  describe('the word of a provider that somebody has signed out', () => {
    type Fields = Record<string, unknown>
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    let count = 0
    const tell = async (
      connectionId: string,
      change: (claims: Fields) => Fields = (claims) => claims,
      header: Fields = { typ: 'logout+jwt' },
    ) => {
      count += 1
      const now = Math.floor(sso.service.clock.nowMs() / 1_000)
      const claims = { iss: sso.provider.issuer, aud: clientId, iat: now, exp: now + 120, jti: `jti-${count}`, events }
      return send(connectionId, sso.provider.sign(change(claims), header))
    }
    const send = async (connectionId: string, token: string) => {
      count += 1
      const answer = await sso.service.app.inject({
        method: 'POST',
        url: `/sso/${connectionId}/backchannel-logout`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ logout_token: token }).toString(),
        remoteAddress: `198.19.${count >> 8}.${count & 255}`,
      })
      return answer.statusCode
    }

    test('ends the session that it names and no other, and all of a person where it names none', async () => {
      const connectionId = await sso.connect()
      const one = somebodyNew()
      const first = await signIn(connectionId)
      const other = somebodyNew()
      const second = await signIn(connectionId)
      equal(await tell(connectionId, (claims) => ({ ...claims, sid: one.sid })), 200)
      deepEqual([await isIn(first), await isIn(second)], [false, true])
      equal(await tell(connectionId, (claims) => ({ ...claims, sub: other.sub })), 200)
      equal(await isIn(second), false)
    })

    test('ends a session though its key was never seen before', async () => {
      const connectionId = await sso.connect()
      const { sid } = somebodyNew()
      const browser = await signIn(connectionId)
      equal(await tell(connectionId, (claims) => ({ ...claims, sid: 'another' })), 200)
      sso.provider.lie = underKey('k2')
      equal(await tell(connectionId, (claims) => ({ ...claims, sid }), { typ: 'logout+jwt', kid: 'k2' }), 200)
      equal(await isIn(browser), false)
    })

    test('is refused when it is forged', async () => {
      const connectionId = await sso.connect()
      const { sid, sub } = somebodyNew()
      const browser = await signIn(connectionId)
      const own = (claims: Fields) => ({ ...claims, sid, sub })
      const forgeries: Readonly<Record<string, [change: (claims: Fields) => Fields, header?: Fields]>> = {
        '56 an ID token': [({ events: _, jti: __, ...claims }) => ({ ...own(claims), nonce: 'x' }), { typ: 'JWT' }],
        '56 an access token': [own, { typ: 'at+jwt' }],
        '57 with a nonce': [(claims) => ({ ...own(claims), nonce: 'x' })],
        '58 without events': [({ events: _, ...claims }) => own(claims)],
        '58 with another event': [(claims) => ({ ...own(claims), events: { other: {} } })],
        '60 expired': [(claims) => ({ ...own(claims), exp: (claims['iat'] as number) - 100 })],
        '60 older than two minutes': [(claims) => ({ ...own(claims), iat: (claims['iat'] as number) - 200 })],
        'of another issuer': [(claims) => ({ ...own(claims), iss: 'https://other.example' })],
        'for somebody else': [(claims) => ({ ...own(claims), aud: 'another' })],
        'that names nobody': [(claims) => claims],
        'without an id': [({ jti: _, ...claims }) => own(claims)],
        'without an end': [({ exp: _, ...claims }) => own(claims)],
        unsigned: [own, { typ: 'logout+jwt', alg: 'none' }],
        'with HMAC': [own, { typ: 'logout+jwt', alg: 'HS256' }],
      }
      for (const [name, [change, header]] of Object.entries(forgeries))
        equal(await tell(connectionId, change, header), 400, name)
      sso.provider.lie = { signature: signWith('sha256', otherKey) }
      equal(await tell(connectionId, own), 400)
      equal(await send(connectionId, 'nonsense'), 400)
      equal(await isIn(browser), true)
      sso.provider.lie = {}
      equal(await tell(connectionId, own), 200)
      equal(await isIn(browser), false)
    })

    test('59 counts once', async () => {
      const connectionId = await sso.connect()
      const { sub } = somebodyNew()
      await signIn(connectionId)
      const once = (claims: Fields) => ({ ...claims, sub, jti: 'the same' })
      equal(await tell(connectionId, once), 200)
      const browser = await signIn(connectionId)
      equal(await tell(connectionId, once), 400)
      equal(await isIn(browser), true)
    })

    test('61 ends no session of another connection', async () => {
      const [connectionId, other] = [await sso.connect(), await sso.connect()]
      const { sid } = somebodyNew()
      const browser = await signIn(connectionId)
      equal(await tell(other, (claims) => ({ ...claims, sid })), 200)
      equal(await isIn(browser), true)
    })
  })
})

describe('where somebody goes on to', () => {
  test('is a path of this service, and the first page for everything else', () => {
    for (const next of ['/', '/o/org_1/keys?q=x#y', '/account']) equal(readNext(next), next)
    const hostile = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
    ]
    const hidden = [
      '/%5cevil.example',
      '/%2fevil.example',
      '/\tevil',
      '/\n/evil.example',
      ' //evil.example',
      '/x\\..',
      '/.//evil.example',
    ]
    const odd = [
      '',
      'account',
      '?x',
      '#x',
      '/..//evil.example',
      '/a\u0000',
      '/é',
      `/${'x'.repeat(2_001)}`,
      undefined,
      7,
      ['/a', '/b'],
    ]
    for (const next of [...hostile, ...hidden, ...odd]) equal(readNext(next), '/', String(next))
  })
})

describe('asking servers that others have named', () => {
  const only = (entries: readonly string[]) => parseAddressList(entries) as AddressList
  const serve = async (answer: string | (() => Iterable<string>)) => {
    const server = createServer((_request, response) => {
      if (typeof answer === 'string') return response.writeHead(302, { location: answer }).end()
      for (const part of answer()) response.write(part)
      return response
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, port: (server.address() as AddressInfo).port }
  }

  test('54 gives up an answer that is too large or has no end', async () => {
    const { server, port } = await serve(() => Array.from({ length: 20 }, () => 'x'.repeat(20_000)))
    await rejects(
      createGuardedFetch({ privateAddresses: only(['127.0.0.1']) })(`http://127.0.0.1:${port}/`, {}),
      /more than/,
    )
    const endless = await serve(() => ['{'])
    const fetch = createGuardedFetch({ privateAddresses: only(['127.0.0.1']), timeoutMs: 100 })
    await rejects(fetch(`http://127.0.0.1:${endless.port}/`, {}))
    for (const one of [server, endless.server]) {
      one.closeAllConnections()
      one.close()
    }
  })

  test('53 follows no redirect', async () => {
    const { server, port } = await serve('http://127.0.0.1:1/')
    const response = await createGuardedFetch({ privateAddresses: only(['127.0.0.1']) })(
      `http://127.0.0.1:${port}/`,
      {},
    )
    equal(response.status, 302)
    server.close()
  })

  test('53 connects to no private address that a name turns out to have, one among several included', async () => {
    const answers = [['10.0.0.1'], ['93.184.216.34', '169.254.169.254'], ['::1'], ['::ffff:127.0.0.1']]
    for (const addresses of answers) {
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      const findAddresses = ((_name: string, _options: unknown, done: (error: null, all: unknown) => void) =>
        done(null, found)) as never
      const fetch = createGuardedFetch({ privateAddresses: only([]), findAddresses })
      await rejects(fetch('https://rebinding.example/', {}), /not one of the open internet/, addresses.join())
    }
    const fetch = createGuardedFetch({ privateAddresses: only([]) })
    for (const url of [
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://0x7f000001/',
      'https://2130706433/',
      'https://[::ffff:127.0.0.1]/',
      'http://93.184.216.34/',
    ]) {
      await rejects(fetch(url, {}), /not one of the open internet/, url)
    }
    await rejects(fetch('file:///etc/passwd', {}), /HTTPS/)
  })
})
