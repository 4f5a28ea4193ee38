import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../../harness/start-service.ts'
import type { CookieBrowser, Page } from '../cookie-browser.ts'
import { findFreePort } from '../../../harness/http/find-free-port.ts'

type Fields = Record<string, unknown>
type User = { readonly id: string; readonly username: string }

/** Of who administers it, for as long as it runs. */
const administrator = { username: 'admin', password: 'admin' }

/** A first start takes half a minute, and far longer on a machine that does much else. */
const startMsMax = 240_000

/** A Keycloak that runs, with the realm of `realm.json`. */
export class Keycloak {
  readonly #address: string
  #token: { readonly text: string; readonly endsMs: number } | null = null

  private constructor(address: string) {
    this.#address = address
  }

  /** Starts it in its mode for development, on a database in a file, and has it take the realm in. */
  static async start(home: string, javaHome: string): Promise<{ keycloak: Keycloak; stop(): Promise<void> }> {
    const port = await findFreePort()
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-keycloak-'))
    const address = `http://127.0.0.1:${port}`
    const options = [`--http-port=${port}`, '--http-host=127.0.0.1', '--cache=local']
    const child = spawn('bash', [join(home, 'bin/kc.sh'), 'start-dev', ...options], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        JAVA_HOME: javaHome,
        JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx512m',
        // It lives for a few minutes: thorough compiling would not pay.
        JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
        KC_DB_URL: `jdbc:h2:file:${join(folder, 'keycloak')};NON_KEYWORDS=VALUE`,
        KC_BOOTSTRAP_ADMIN_USERNAME: administrator.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The script that starts it has the program as its child: they are ended together.
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const kill = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    }
    process.once('exit', kill)
    const stop = async () => {
      kill()
      await exited
      process.off('exit', kill)
      rmSync(folder, { recursive: true, force: true })
    }
    const keycloak = new Keycloak(address)
    try {
      const isThere = () => {
        if (child.exitCode !== null) throw new Error('Keycloak has ended.')
        return fetch(`${address}/realms/master`).then(
          ({ ok }) => ok,
          () => false,
        )
      }
      await until(isThere, 'Keycloak did not start.', startMsMax)
      await keycloak.takeRealm()
      return { keycloak, stop }
    } catch (error) {
      await stop()
      throw new Error(`Keycloak cannot be used:\n${output.slice(-4_000)}`, { cause: error })
    }
  }

  /** One that runs already, at an address of this machine; a realm of the same name there is made anew. */
  static async at(address: string): Promise<Keycloak> {
    const keycloak = new Keycloak(address)
    await keycloak.#ask('DELETE', '/admin/realms/acme').catch(() => {})
    await keycloak.takeRealm()
    return keycloak
  }

  get issuer(): string {
    return `${this.#address}/realms/acme`
  }

  get metadataUrl(): string {
    return `${this.issuer}/protocol/saml/descriptor`
  }

  async takeRealm(): Promise<void> {
    await this.#ask('POST', '/admin/realms', readFileSync(join(import.meta.dirname, 'realm.json'), 'utf8'))
  }

  /** Asks the realm's administration. Throws for what is refused. */
  async administer<Answer = Fields>(method: string, path: string, body?: unknown): Promise<Answer> {
    const given = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return (await this.#ask(method, `/admin/realms/acme${path}`, given)) as Answer
  }

  async #ask(method: string, path: string, body?: string): Promise<unknown> {
    const response = await fetch(`${this.#address}${path}`, {
      method,
      headers: { authorization: `Bearer ${await this.#signIn()}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Keycloak answers ${method} ${path} with ${response.status}: ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }

  async #signIn(): Promise<string> {
    if (this.#token !== null && this.#token.endsMs > performance.now()) return this.#token.text
    const form = { client_id: 'admin-cli', grant_type: 'password', ...administrator }
    const url = `${this.#address}/realms/master/protocol/openid-connect/token`
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
    const answered = (await response.json()) as { readonly access_token: string; readonly expires_in: number }
    const { access_token: text, expires_in: seconds } = answered
    this.#token = { text, endsMs: performance.now() + (seconds - 15) * 1_000 }
    return text
  }

  async findUser(username: string): Promise<User> {
    const [user] = await this.administer<User[]>('GET', `/users?exact=true&username=${username}`)
    if (user === undefined) throw new Error(`The realm has no ${username}.`)
    return user
  }

  async setEnabled(username: string, enabled: boolean): Promise<void> {
    const { id } = await this.findUser(username)
    await this.administer('PUT', `/users/${id}`, { enabled })
  }

  /** Changes what a client is. */
  async updateClient(id: string, changes: Fields & { readonly attributes?: Fields }): Promise<void> {
    const client = await this.administer<Fields & { attributes: Fields }>('GET', `/clients/${id}`)
    const attributes = { ...client.attributes, ...changes.attributes }
    await this.administer('PUT', `/clients/${id}`, { ...client, ...changes, attributes })
  }
}

/** Enters a name and its password at a page of Keycloak where it asks for them. */
export function enterPassword(browser: CookieBrowser, page: Page, username: string): Promise<Page> {
  if (!page.text.includes('kc-form-login'))
    throw new Error(`Keycloak does not ask who it is: ${page.text.slice(0, 500)}`)
  return browser.submit(page, { username, password: `the password of ${username}` })
}
