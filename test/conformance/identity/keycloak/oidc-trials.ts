import { equal, match, notEqual, ok } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { CookieBrowser } from '../cookie-browser.ts'
import { requireWho, whoIs, type Connection, type Installation } from '../installation.ts'
import type { Login } from './key-change.ts'
import type { Verdicts } from '../verdicts.ts'
import { enterPassword, type Keycloak } from './keycloak.ts'

const secret = 'a secret of the client'
const logoutMsMax = 1_000
const logouts = 20

/** Signs people in by OpenID Connect. */
export async function tryOidc(verdicts: Verdicts, installation: Installation, keycloak: Keycloak): Promise<Login> {
  const trials = await OidcTrials.open(installation, keycloak)
  const test = (name: string, work: () => Promise<string | void>) =>
    verdicts.try('Keycloak, OpenID Connect', name, work)
  await test('somebody signs in with PKCE, and is what the group is mapped to', () => trials.signIn())
  await test('somebody who is signed in there comes in without being asked', () => trials.signInAgain())
  await test('somebody whose address is not verified is refused', () => trials.refuseUnverified())
  await test('somebody who is disabled there is refused', () => trials.refuseDisabled())
  await test('somebody who is disabled there while signed in does not come back', () => trials.refuseDisabledSession())
  await test('somebody is asked anew for a fresh proof', () => trials.proveAgain())
  await test('a code from another browser signs nobody in', () => trials.refuseOtherBrowser())
  await test('whoever is signed out there is signed out here within a second', () => trials.endByProvider())
  await test('whoever signs out here is signed out there too', () => trials.signOutThere())
  return () => trials.login()
}

class OidcTrials {
  readonly #installation: Installation
  readonly #keycloak: Keycloak
  readonly #connection: Connection

  private constructor(installation: Installation, keycloak: Keycloak, connection: Connection) {
    this.#installation = installation
    this.#keycloak = keycloak
    this.#connection = connection
  }

  static async open(installation: Installation, keycloak: Keycloak): Promise<OidcTrials> {
    const connection = await installation.connect('oidc', {
      name: 'Keycloak',
      issuer: keycloak.issuer,
      clientId: 'odyssey',
      clientSecret: secret,
      makesMembers: true,
      signsOutThere: true,
    })
    const data = [{ group: 'engineers', role: 'admin' }]
    await installation.manage('PUT', `connections/${connection.id}/group-mappings`, { data })
    await keycloak.administer('POST', '/clients', {
      clientId: 'odyssey',
      protocol: 'openid-connect',
      secret,
      standardFlowEnabled: true,
      directAccessGrantsEnabled: false,
      redirectUris: [connection.redirectUri],
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
      attributes: {
        'pkce.code.challenge.method': 'S256',
        'post.logout.redirect.uris': `${installation.origin}/login`,
        'backchannel.logout.url': connection.logoutUri,
        'backchannel.logout.session.required': 'true',
      },
    })
    return new OidcTrials(installation, keycloak, connection)
  }

  /** Signs somebody in who is asked there. */
  async #enter(browser: CookieBrowser, username: string, query = '') {
    const asked = await browser.go(`${this.#connection.startUri}${query}`)
    const page = await enterPassword(browser, asked, username)
    return requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })
  }

  async login(): Promise<void> {
    await this.#enter(new CookieBrowser(), 'ann')
  }

  async signIn(): Promise<void> {
    const browser = new CookieBrowser()
    const { email, name, role } = await this.#enter(browser, 'ann')
    equal(`${email}, ${name}, ${role}`, 'ann@acme.example, Ann Lee, admin')
    const asked = browser.visited.find(({ pathname }) => pathname.endsWith('/auth'))
    equal(asked?.searchParams.get('code_challenge_method'), 'S256')
    equal((await this.#enter(new CookieBrowser(), 'ben')).role, 'developer')
  }

  async signInAgain(): Promise<void> {
    const browser = new CookieBrowser()
    const first = await this.#enter(browser, 'ann')
    browser.forget('localhost')
    equal(await whoIs(this.#installation, browser), null)
    const page = await browser.go(`${this.#connection.startUri}?next=/keys`)
    equal((await requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })).id, first.id)
    equal(page.url.pathname, '/keys')
  }

  async refuseUnverified(): Promise<void> {
    await this.#isRefused('cat', 'email-unverified')
  }

  async #isRefused(username: string, code: string): Promise<void> {
    const browser = new CookieBrowser()
    const asked = await browser.go(this.#connection.startUri)
    const page = await enterPassword(browser, asked, username)
    equal(page.status, 400)
    equal(await whoIs(this.#installation, browser), null)
    equal((await this.#installation.attempts(this.#connection.id))[0]?.code, code)
  }

  async refuseDisabled(): Promise<void> {
    const browser = new CookieBrowser()
    const page = await enterPassword(browser, await browser.go(this.#connection.startUri), 'dan')
    equal(page.url.origin, new URL(this.#keycloak.issuer).origin)
    equal(await whoIs(this.#installation, browser), null)
  }

  async refuseDisabledSession(): Promise<void> {
    const browser = new CookieBrowser()
    await this.#enter(browser, 'ben')
    browser.forget('localhost')
    await this.#keycloak.setEnabled('ben', false)
    try {
      const page = await browser.go(this.#connection.startUri)
      equal(page.url.origin, new URL(this.#keycloak.issuer).origin)
      equal(await whoIs(this.#installation, browser), null)
    } finally {
      await this.#keycloak.setEnabled('ben', true)
    }
  }

  async proveAgain(): Promise<void> {
    const browser = new CookieBrowser()
    const { id } = await this.#enter(browser, 'ann')
    const asked = await browser.go(`${this.#connection.startUri}?prove=1`)
    match(asked.text, /kc-form-login|kc-reauthenticate|name="password"/)
    const page = await browser.submit(asked, { password: 'the password of ann' })
    equal((await requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })).id, id)
  }

  async refuseOtherBrowser(): Promise<void> {
    const victim = new CookieBrowser()
    await victim.go(this.#connection.startUri)
    const attacker = new CookieBrowser()
    const before = attacker.visited.length
    await this.#enter(attacker, 'ann')
    const callback = attacker.visited.slice(before).find(({ pathname }) => pathname.endsWith('/callback'))
    ok(callback !== undefined)
    equal((await victim.go(callback.href)).status, 400)
    equal(await whoIs(this.#installation, victim), null)
  }

  async signOutThere(): Promise<void> {
    const browser = new CookieBrowser()
    await this.#enter(browser, 'ann')
    const { text } = await browser.ask(`${this.#installation.origin}/api/v1/session/sign-out`, { method: 'POST' })
    equal(await whoIs(this.#installation, browser), null)
    const { location } = JSON.parse(text) as { location: string }
    const { pathname, search } = (await browser.go(location)).url
    equal(`${pathname}${search}`, '/login?state=signed-out')
    const asked = await browser.go(this.#connection.startUri)
    match(asked.text, /kc-form-login/, 'Keycloak has somebody signed in still.')
  }

  /** Sessions end that somebody has in two browsers, and nobody else's. */
  async endByProvider(): Promise<string> {
    const { id } = await this.#keycloak.findUser('ann')
    const other = new CookieBrowser()
    await this.#enter(other, 'ben')
    const times: number[] = []
    for (let count = 0; count < logouts; count++) {
      const browser = new CookieBrowser()
      await this.#enter(browser, 'ann')
      const startedMs = performance.now()
      await this.#keycloak.administer('POST', `/users/${id}/logout`)
      while ((await whoIs(this.#installation, browser)) !== null) {
        if (performance.now() - startedMs > 10_000) throw new Error('The session does not end.')
        await wait(5)
      }
      times.push(performance.now() - startedMs)
    }
    notEqual(await whoIs(this.#installation, other), null)
    const longestMs = Math.max(...times)
    const figure = `${logouts} of ${logouts}, the longest after ${longestMs.toFixed(0)} ms`
    if (longestMs > logoutMsMax) throw new Error(figure)
    return figure
  }
}
