import { findFreePort } from '../../harness/http/find-free-port.ts'
import { runCli } from '../../harness/run-cli.ts'
import { startService, type Service } from '../../harness/start-service.ts'
import type { CookieBrowser, Page } from './cookie-browser.ts'

type Fields = Record<string, unknown>
export type Who = { readonly id: string; readonly email: string; readonly name: string; readonly role: string }
export type Attempt = { readonly outcome: string; readonly code: string | null; readonly reason: string | null }
export type Connection = {
  readonly id: string
  readonly redirectUri: string
  readonly startUri: string
  readonly logoutUri: string
  readonly metadataUri: string
}

/** The domain of everybody's e-mail address; the organization has shown that it is its own. */
export const domain = 'acme.example'

/** A started service with an organization, and what its owner can do. */
export type Installation = {
  readonly origin: string
  readonly organizationId: string
  readonly service: Service
  /** Asks the management API as an owner. Throws for what is refused. */
  manage(method: string, path: string, body?: unknown): Promise<Fields>
  command(...words: string[]): Promise<Fields>
  /** Makes a connection, and switches it on. */
  connect(language: 'oidc' | 'saml', settings: Fields): Promise<Connection>
  attempts(connectionId: string): Promise<readonly Attempt[]>
  close(): Promise<void>
}

export async function openInstallation(): Promise<Installation> {
  // The service has to know its own address before it is started.
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  const config = {
    server: { publicUrl: origin },
    sso: { privateAddresses: ['127.0.0.0/8', '::1/128'], metadataRefreshMinutes: 1 },
  }
  const service = await startService({ config, environment: { PORT: String(port) } })
  const command = async (...words: string[]) => JSON.parse(await runCli(service, ...words, '--json')) as Fields
  const { key } = await command('management-keys', 'create', '--name', 'owner', '--role', 'owner')
  const organizationId = 'org_default'
  await command('domains', 'add', domain)
  await command('domains', 'trust', domain)
  const manage: Installation['manage'] = async (method, path, body) => {
    const response = await fetch(`${service.address}/api/v1/organizations/${organizationId}/${path}`, {
      method,
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} is answered with ${response.status}: ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Fields
  }
  return {
    origin,
    organizationId,
    service,
    manage,
    command,
    async connect(language, settings) {
      const path = language === 'saml' ? 'connections/saml' : 'connections'
      const made = (await manage('POST', path, settings)) as Connection
      await manage('POST', `connections/${made.id}/enable`)
      return made
    },
    async attempts(connectionId) {
      const { data } = await manage('GET', `connections/${connectionId}/attempts`)
      return data as readonly Attempt[]
    },
    async close() {
      await service.stop()
    },
  }
}

/** Who is signed in to the service in a browser; null for nobody. */
export async function whoIs({ origin }: Pick<Installation, 'origin'>, browser: CookieBrowser): Promise<Who | null> {
  const { status, text } = await browser.ask(`${origin}/api/v1/session`)
  if (status === 401) return null
  if (status !== 200) throw new Error(`The session is answered with ${status}: ${text}`)
  const { user, memberships } = JSON.parse(text) as { user: Omit<Who, 'role'>; memberships: { role: string }[] }
  return { ...user, role: memberships[0]?.role ?? 'none' }
}

/** Throws for a page at which somebody was told that they are not signed in, with what the administrators are told. */
export async function requireWho(
  installation: Installation,
  { browser, page, connectionId }: { browser: CookieBrowser; page: Page; connectionId: string },
): Promise<Who> {
  const who = await whoIs(installation, browser)
  if (who !== null) return who
  const [last] = await installation.attempts(connectionId)
  const words = `at ${page.url.origin}${page.url.pathname}, status ${page.status}`
  throw new Error(`Nobody is signed in ${words}: ${JSON.stringify(last ?? null)} ${page.text.slice(0, 300)}`)
}
