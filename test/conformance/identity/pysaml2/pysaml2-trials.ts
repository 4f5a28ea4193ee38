import { equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CookieBrowser } from '../cookie-browser.ts'
import { findFreePort } from '../../../harness/http/find-free-port.ts'
import { requireWho, whoIs, type Connection, type Installation } from '../installation.ts'
import type { Verdicts } from '../verdicts.ts'

const tripleDes = 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc'

/** How it answers. */
type Shape = {
  readonly signsResponse?: boolean
  readonly signsAssertion?: boolean
  readonly encrypts?: boolean
  readonly method?: string
}

const shapes: Readonly<Record<string, Shape>> = {
  'the answer signed': { signsResponse: true },
  'the assertion signed': { signsAssertion: true },
  'both signed': { signsResponse: true, signsAssertion: true },
  'the answer signed, the assertion encrypted': { signsResponse: true, encrypts: true },
  'both signed, the assertion encrypted': { signsResponse: true, signsAssertion: true, encrypts: true },
}

type Programs = { readonly python: string; readonly xmlsec: string }

/** Signs people in by a provider of pysaml2. */
export async function tryPysaml2(verdicts: Verdicts, installation: Installation, programs: Programs): Promise<void> {
  const provider = await Provider.start(programs)
  try {
    const trials = await Pysaml2Trials.open(installation, provider)
    const test = (name: string, work: () => Promise<void>) => verdicts.try('pysaml2', name, work)
    for (const [name, shape] of Object.entries(shapes)) {
      await test(`somebody signs in, ${name}`, () => trials.signIn(shape))
    }
    await test('a sign-in that begins there is begun anew from here', () => trials.bounce())
    await test('an answer without a signature is refused', () => trials.refuse({}, /^saml-unsigned$/))
    await test('an assertion that is encrypted by Triple DES is refused', () =>
      trials.refuse({ signsResponse: true, encrypts: true, method: tripleDes }, /^saml-/))
    await test('whoever signs out there is signed out here', () => trials.endThere())
    await test('whoever signs out here is signed out there too', () => trials.signOutThere())
  } finally {
    await provider.stop()
  }
}

class Provider {
  readonly address: string
  readonly stop: () => Promise<void>

  private constructor(address: string, stop: () => Promise<void>) {
    this.address = address
    this.stop = stop
  }

  static async start({ python, xmlsec }: Programs): Promise<Provider> {
    const port = await findFreePort()
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-pysaml2-'))
    const script = join(import.meta.dirname, 'provider.py')
    const child = spawn(join(python, 'python'), [script, String(port), folder, xmlsec], {
      env: { PATH: process.env['PATH'] ?? '', PYTHONWARNINGS: 'ignore', PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    const exited = once(child, 'exit')
    await Promise.race([once(child.stdout, 'data'), exited])
    if (child.exitCode !== null) throw new Error('The provider of pysaml2 has ended.')
    return new Provider(`http://127.0.0.1:${port}`, async () => {
      kill()
      await exited
      process.off('exit', kill)
      rmSync(folder, { recursive: true, force: true })
    })
  }

  async tell(fields: object): Promise<void> {
    const response = await fetch(this.address, { method: 'POST', body: JSON.stringify(fields) })
    if (!response.ok) throw new Error(`pysaml2 answers with ${response.status}.`)
  }
}

class Pysaml2Trials {
  readonly #installation: Installation
  readonly #provider: Provider
  readonly #connection: Connection

  private constructor(installation: Installation, provider: Provider, connection: Connection) {
    this.#installation = installation
    this.#provider = provider
    this.#connection = connection
  }

  static async open(installation: Installation, provider: Provider): Promise<Pysaml2Trials> {
    const connection = await installation.connect('saml', {
      name: 'pysaml2',
      metadataUrl: `${provider.address}/metadata`,
      verifiesEmails: true,
      makesMembers: true,
      providerInitiated: 'bounce',
    })
    await provider.tell({ description: await (await fetch(connection.metadataUri)).text() })
    return new Pysaml2Trials(installation, provider, connection)
  }

  async #enter(browser: CookieBrowser, shape: Shape) {
    await this.#provider.tell({ person: 'pia', ...shape })
    const page = await browser.go(this.#connection.startUri)
    return requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })
  }

  async signIn(shape: Shape): Promise<void> {
    const { email, name } = await this.#enter(new CookieBrowser(), shape)
    equal(`${email}, ${name}`, 'pia@acme.example, pia')
  }

  async bounce(): Promise<void> {
    const browser = new CookieBrowser()
    await this.#provider.tell({ person: 'pia', signsResponse: true })
    const page = await browser.go(`${this.#provider.address}/tile`)
    await requireWho(this.#installation, { browser, page, connectionId: this.#connection.id })
    equal(browser.visited.filter(({ pathname }) => pathname.endsWith('/acs')).length, 2)
  }

  async refuse(shape: Shape, code: RegExp): Promise<void> {
    const browser = new CookieBrowser()
    await this.#provider.tell({ person: 'pia', ...shape })
    const page = await browser.go(this.#connection.startUri)
    equal(page.url.href, this.#connection.redirectUri)
    equal(page.status, 400)
    equal(await whoIs(this.#installation, browser), null)
    match((await this.#installation.attempts(this.#connection.id))[0]?.code ?? '', code)
  }

  async endThere(): Promise<void> {
    const browser = new CookieBrowser()
    await this.#enter(browser, { signsAssertion: true })
    const page = await browser.go(`${this.#provider.address}/logout`)
    equal(await whoIs(this.#installation, browser), null)
    ok(page.text.includes('signed out: True'), page.text.slice(0, 300))
  }
  async signOutThere(): Promise<void> {
    const browser = new CookieBrowser()
    const who = await this.#enter(browser, { signsAssertion: true })
    await this.#installation.manage('PATCH', `connections/${this.#connection.id}`, { signsOutThere: true })
    const { text } = await browser.ask(`${this.#installation.origin}/api/v1/session/sign-out`, { method: 'POST' })
    equal(await whoIs(this.#installation, browser), null)
    const { location } = JSON.parse(text) as { location: string }
    const { pathname, search } = (await browser.go(location)).url
    const [last] = await this.#installation.attempts(this.#connection.id)
    equal(`${pathname}${search}`, '/login?state=signed-out', JSON.stringify(last))
    const told = await browser.go(`${this.#provider.address}/signed-out`)
    ok(who.email.startsWith(told.text) && told.text !== '', told.text)
  }
}
