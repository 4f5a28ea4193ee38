import { equal, match, ok } from 'node:assert/strict'
import { CookieBrowser, type Page } from '../cookie-browser.ts'
import { requireWho, whoIs, type Connection, type Installation } from '../installation.ts'
import type { Login } from './key-change.ts'
import type { Verdicts } from '../verdicts.ts'
import { enterPassword, type Keycloak } from './keycloak.ts'

type Shape = { readonly attributes: Readonly<Record<string, string>>; readonly shows: RegExp }

const encrypted = { 'saml.encrypt': 'true' } as const
const keyName = 'saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer'

/** What a provider signs, and whether it encrypts; and what shows in its answers that it did. */
const shapes: Readonly<Record<string, Shape>> = {
  'the answer signed': {
    attributes: { 'saml.assertion.signature': 'false' },
    shows: /<dsig:Signature [^]*<samlp:Status>(?![^]*<dsig:Signature )/,
  },
  'the assertion signed': {
    attributes: { 'saml.server.signature': 'false' },
    shows: /^(?![^]*<dsig:Signature [^]*<samlp:Status>)[^]*<saml:Assertion[^]*<dsig:Signature /,
  },
  'both signed': { attributes: {}, shows: /<dsig:Signature [^]*<samlp:Status>[^]*<dsig:Signature / },
  'both signed, with SHA-512': {
    attributes: { 'saml.signature.algorithm': 'RSA_SHA512' },
    shows: /rsa-sha512"[^]*rsa-sha512"/,
  },
  'for one use alone': { attributes: { 'saml.onetimeuse.condition': 'true' }, shows: /<saml:OneTimeUse/ },
  'with the key named by its certificate': {
    attributes: { [keyName]: 'CERT_SUBJECT' },
    shows: /<dsig:KeyName>CN=/,
  },
  'with the key named nowhere': { attributes: { [keyName]: 'NONE' }, shows: /^(?![^]*KeyName)/ },
  'both signed, the assertion encrypted': { attributes: encrypted, shows: /EncryptedAssertion[^]*aes256-gcm/ },
  'encrypted by AES-CBC': {
    attributes: { ...encrypted, 'saml.encryption.algorithm': 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' },
    shows: /EncryptedAssertion[^]*aes256-cbc/,
  },
}

const plain = {
  'saml.server.signature': 'true',
  'saml.assertion.signature': 'true',
  'saml.encrypt': 'false',
  'saml.signature.algorithm': 'RSA_SHA256',
  'saml.onetimeuse.condition': 'false',
  'saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer': 'KEY_ID',
  'saml.encryption.algorithm': 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
}

/** Signs people in by SAML 2.0. */
export async function trySaml(verdicts: Verdicts, installation: Installation, keycloak: Keycloak): Promise<Login> {
  const trials = await SamlTrials.open(installation, keycloak)
  const test = (name: string, work: () => Promise<string | void>) => verdicts.try('Keycloak, SAML', name, work)
  for (const [name, shape] of Object.entries(shapes)) {
    await test(`somebody signs in, ${name}`, () => trials.signIn(shape))
  }
  await test('a sign-in that begins there is begun anew from here', () => trials.bounce())
  await test('an answer that was taken is not taken again', () => trials.refuseAgain())
  await test('an answer to another browser signs nobody in', () => trials.refuseOtherBrowser())
  await test('somebody who is disabled there is refused', () => trials.refuseDisabled())
  await test('whoever signs out there is signed out here', () => trials.endThere())
  await test('whoever signs out here is signed out there too', () => trials.signOutThere())
  await test('the key of this service changes', () => trials.changeOwnKey())
  return () => trials.login()
}

class SamlTrials {
  readonly #installation: Installation
  readonly #keycloak: Keycloak
  readonly #connection: Connection
  readonly #clientId: string

  private constructor(given: {
    installation: Installation
    keycloak: Keycloak
    connection: Connection
    clientId: string
  }) {
    this.#installation = given.installation
    this.#keycloak = given.keycloak
    this.#connection = given.connection
    this.#clientId = given.clientId
  }

  /** Sets both sides up as the documentation has it: each reads what the other says of itself. */
  static async open(installation: Installation, keycloak: Keycloak): Promise<SamlTrials> {
    const connection = await installation.connect('saml', {
      name: 'Keycloak by SAML',
      metadataUrl: keycloak.metadataUrl,
      verifiesEmails: true,
      makesMembers: true,
      providerInitiated: 'bounce',
    })
    const data = [{ group: 'engineers', role: 'admin' }]
    await installation.manage('PUT', `connections/${connection.id}/group-mappings`, { data })
    await importClient(installation, keycloak, connection)
    const [made] = await keycloak.administer<{ id: string }[]>(
      'GET',
      `/clients?clientId=${encodeURIComponent(connection.metadataUri)}`,
    )
    return new SamlTrials({ installation, keycloak, connection, clientId: made?.id ?? '' })
  }

  async #enter(browser: CookieBrowser, username: string) {
    const page = await enterPassword(browser, await browser.go(this.#connection.startUri), username)
    return this.#require(browser, page)
  }

  #require(browser: CookieBrowser, page: Page) {
    return requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })
  }

  async signIn({ attributes, shows }: Shape): Promise<void> {
    await this.#keycloak.updateClient(this.#clientId, { attributes: { ...plain, ...attributes } })
    try {
      const browser = new CookieBrowser()
      const answer = await this.#capture(browser)
      match(Buffer.from(answer['SAMLResponse'] ?? '', 'base64').toString(), shows)
      const page = await browser.post(this.#connection.redirectUri, answer, this.#keycloak.issuer)
      const { email, role } = await this.#require(browser, page)
      equal(`${email}, ${role}`, 'eve@acme.example, admin')
    } finally {
      await this.#keycloak.updateClient(this.#clientId, { attributes: plain })
    }
  }

  async bounce(): Promise<void> {
    const browser = new CookieBrowser()
    const asked = await browser.go(`${this.#keycloak.issuer}/protocol/saml/clients/odyssey`)
    const page = await enterPassword(browser, asked, 'eve')
    await this.#require(browser, page)
    const begun = browser.visited.map(({ pathname }) => pathname.split('/').at(-1))
    equal(begun.filter((place) => place === 'acs').length, 2)
    equal(begun.filter((place) => place === 'start').length, 1)
  }

  /** A browser that stops where an answer would be brought, and what it would bring. */
  async #capture(browser: CookieBrowser): Promise<Record<string, string>> {
    const asked = await browser.go(this.#connection.startUri)
    browser.stopsAt = (url) => url.href === this.#connection.redirectUri
    const page = await enterPassword(browser, asked, 'eve')
    browser.stopsAt = () => false
    return browser.fieldsOf(page)
  }

  async refuseAgain(): Promise<void> {
    const browser = new CookieBrowser()
    const answer = await this.#capture(browser)
    const page = await browser.post(this.#connection.redirectUri, answer, this.#keycloak.issuer)
    await this.#require(browser, page)
    const again = new CookieBrowser()
    equal((await again.post(this.#connection.redirectUri, answer, this.#keycloak.issuer)).status, 400)
    equal(await whoIs(this.#installation, again), null)
    equal((await this.#installation.attempts(this.#connection.id))[0]?.code, 'saml-replay')
  }

  async refuseOtherBrowser(): Promise<void> {
    const answer = await this.#capture(new CookieBrowser())
    const victim = new CookieBrowser()
    await victim.go(this.#connection.startUri)
    equal((await victim.post(this.#connection.redirectUri, answer, this.#keycloak.issuer)).status, 400)
    equal(await whoIs(this.#installation, victim), null)
  }

  async refuseDisabled(): Promise<void> {
    await this.#keycloak.setEnabled('eve', false)
    try {
      const browser = new CookieBrowser()
      const page = await enterPassword(browser, await browser.go(this.#connection.startUri), 'eve')
      equal(page.url.origin, new URL(this.#keycloak.issuer).origin)
      equal(await whoIs(this.#installation, browser), null)
    } finally {
      await this.#keycloak.setEnabled('eve', true)
    }
  }

  /** The provider sends the browser round with its signed word, and takes the answer of this service. */
  async endThere(): Promise<void> {
    const [browser, other] = [new CookieBrowser(), new CookieBrowser()]
    await this.#enter(browser, 'eve')
    await this.#enter(other, 'eve')
    const asked = await browser.go(`${this.#keycloak.issuer}/protocol/openid-connect/logout`)
    const page = await browser.submit(asked, {})
    equal(await whoIs(this.#installation, browser), null)
    ok(await whoIs(this.#installation, other), 'A session elsewhere has ended too.')
    equal(page.url.origin, new URL(this.#keycloak.issuer).origin)
    ok(browser.visited.some(({ pathname }) => pathname.endsWith('/slo')))
    equal(page.status, 200, page.text.slice(0, 400))
  }

  async signOutThere(): Promise<void> {
    const browser = new CookieBrowser()
    await this.#enter(browser, 'eve')
    await this.#installation.manage('PATCH', `connections/${this.#connection.id}`, { signsOutThere: true })
    const { text } = await browser.ask(`${this.#installation.origin}/api/v1/session/sign-out`, { method: 'POST' })
    equal(await whoIs(this.#installation, browser), null)
    const { location } = JSON.parse(text) as { location: string }
    const { pathname, search } = (await browser.go(location)).url
    const [last] = await this.#installation.attempts(this.#connection.id)
    equal(`${pathname}${search}`, '/login?state=signed-out', JSON.stringify(last))
    const asked = await browser.go(this.#connection.startUri)
    ok(asked.text.includes('kc-form-login'), 'Keycloak has somebody signed in still.')
  }

  /** Keycloak knows one certificate of a client: it reads the description again when the new key is in use. */
  async changeOwnKey(): Promise<void> {
    const { id } = this.#connection
    const rotate = () => this.#installation.manage('POST', `connections/${id}/rotate-key`)
    await this.login()
    await rotate()
    await rotate()
    const { attributes } = await readDescription(this.#keycloak, this.#connection)
    const keys = Object.entries(attributes).filter(([name]) => name.includes('certificate'))
    await this.#keycloak.updateClient(this.#clientId, {
      attributes: { ...Object.fromEntries(keys), 'saml.encrypt': 'true' },
    })
    await this.login()
    await this.#keycloak.updateClient(this.#clientId, { attributes: plain })
  }

  async login(): Promise<void> {
    await this.#enter(new CookieBrowser(), 'eve')
  }
}

/** What “Import client” does on the provider’s pages, and the mappers that the documentation names. */
async function importClient(installation: Installation, keycloak: Keycloak, connection: Connection): Promise<void> {
  const read = await readDescription(keycloak, connection)
  const format = 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic'
  const names = (name: string) => ({ 'attribute.name': name, 'attribute.nameformat': format })
  const email = { ...names('email'), 'user.attribute': 'email' }
  const groups = { ...names('groups'), single: 'true', 'full.path': 'false' }
  await keycloak.administer('POST', '/clients', {
    ...read,
    attributes: {
      ...read.attributes,
      ...plain,
      'saml.force.post.binding': 'true',
      saml_idp_initiated_sso_url_name: 'odyssey',
    },
    protocolMappers: [
      { name: 'email', protocol: 'saml', protocolMapper: 'saml-user-property-mapper', config: email },
      { name: 'groups', protocol: 'saml', protocolMapper: 'saml-group-membership-mapper', config: groups },
    ],
  })
  equal(read.clientId, `${installation.origin}/sso/${connection.id}/metadata`)
}

type Client = { readonly clientId: string; readonly attributes: Record<string, string> }

async function readDescription(keycloak: Keycloak, { metadataUri }: Connection): Promise<Client> {
  const description = await (await fetch(metadataUri)).text()
  return keycloak.administer<Client>('POST', '/client-description-converter', description)
}
