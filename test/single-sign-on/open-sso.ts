import {
  createConnection,
  setConnectionOn,
  type ConnectionSettings,
} from '../../src/accounts/single-sign-on/connections.ts'
import type { ConnectionId, OrganizationId } from '../../src/core/ids.ts'
import type { Database } from '../../src/db/database.ts'
import type { Log } from '../../src/telemetry/log.ts'
import { domainToken, testSignIn } from '../harness/management.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { createManualClock } from '../harness/manual-clock.ts'
import { createCompany, type Company } from '../http/api/world.ts'
import { newConnection } from '../http/api/sso-things.ts'
import { HostileProvider } from './hostile-provider.ts'

const operator = { kind: 'operator' } as const

export type Sso = {
  readonly service: ManagementService
  readonly provider: HostileProvider
  readonly company: Company
  /** A connection that is switched on. */
  connect(settings?: Partial<ConnectionSettings>, issuer?: string, where?: OrganizationId): Promise<ConnectionId>
  browser(): SsoBrowser
  close(): Promise<void>
}

/** A service with an organization whose domain is `acme.example`, and a provider. */
export async function openSso(db: Database, startMs?: number, log?: Log): Promise<Sso> {
  const service = await openManagementService(db, {}, createManualClock(startMs), log)
  const { clock, accounts } = service
  const provider = await HostileProvider.open(() => clock.nowMs())
  const company = await createCompany(accounts)
  await addDomain(service, company.organizationId, 'acme.example')
  const parts = { ...accounts, signIn: testSignIn }
  return {
    service,
    provider,
    company,
    async connect(settings = {}, issuer = provider.issuer, organizationId = company.organizationId) {
      const id = await createConnection(parts, operator, { ...newConnection, ...settings, issuer, organizationId })
      await setConnectionOn(parts, operator, { id, organizationId }, true)
      return id
    },
    browser: () => new SsoBrowser(service),
    async close() {
      await service.close()
      await provider.close()
    },
  }
}

let count = 0

export async function addDomain({ db, clock }: ManagementService, organization_id: OrganizationId, name: string) {
  count += 1
  const row = { id: `dom_test${count}`, organization_id, name, token: domainToken } as const
  await db
    .insertInto('domains')
    .values({ ...row, verified_at: clock.nowMs(), created_at: clock.nowMs() })
    .execute()
}

/** A browser that is sent to the provider and back. It has a network of its own, so that no refusal waits for others. */
export class SsoBrowser {
  readonly cookies = new Map<string, string>()
  readonly #service: ManagementService
  readonly #address: string

  constructor(service: ManagementService) {
    count += 1
    this.#service = service
    this.#address = `198.18.${count >> 8}.${count & 255}`
  }

  /** Goes to an address as somebody does who follows a link. */
  async go(path: string, site: 'same-origin' | 'cross-site' = 'cross-site'): Promise<Answer> {
    // A cookie that is strict is not sent where another site sends the browser.
    const sent = [...this.cookies].filter(([name]) => site === 'same-origin' || name.endsWith('odyssey-sso'))
    const cookie = sent.map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', ...(cookie !== '' && { cookie }) }
    return this.#keep(await this.#service.ask({ path, headers, address: this.#address }))
  }

  /** Sends a form from a page of another site, with which no cookie goes along. */
  async post(path: string, fields: Record<string, string> | string): Promise<Answer> {
    const answer = await this.#service.app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' },
      payload: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
      remoteAddress: this.#address,
    })
    const { statusCode: status, headers, body: text } = answer
    return this.#keep({ status, headers, text, body: {} })
  }

  /** Asks as a page of the service does. */
  async ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { origin: 'https://ai.example.com', 'sec-fetch-site': 'same-origin', cookie }
    const given = body === undefined ? {} : { body }
    return this.#keep(
      await this.#service.ask({ method, path: `/api/v1/${path}`, headers, address: this.#address, ...given }),
    )
  }

  /** Begins to sign in. Returns the provider's address to which the browser is sent. */
  async begin(connectionId: string, query = ''): Promise<string> {
    const answer = await this.go(`/sso/${connectionId}/start${query}`)
    if (answer.status !== 303) throw new Error(`It does not begin: ${answer.status} ${answer.text}`)
    return String(answer.headers['location'])
  }

  back(connectionId: string, params: URLSearchParams): Promise<Answer> {
    return this.go(`/sso/${connectionId}/callback?${params.toString()}`)
  }

  get isSignedIn(): boolean {
    return this.cookies.has('__Host-odyssey')
  }

  #keep(answer: Answer): Answer {
    for (const line of [answer.headers['set-cookie'] ?? []].flat() as string[]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.cookies.set(name, value)
    }
    return answer
  }
}
