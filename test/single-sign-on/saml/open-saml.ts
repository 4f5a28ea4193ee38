import { sql } from 'kysely'
import { createSamlConnection, type SamlSettings } from '../../../src/accounts/single-sign-on/saml/saml-connections.ts'
import type { MetadataSource } from '../../../src/accounts/single-sign-on/saml/find-metadata.ts'
import { setConnectionOn } from '../../../src/accounts/single-sign-on/connections.ts'
import type { ConnectionId, OrganizationId } from '../../../src/core/ids.ts'
import type { Database } from '../../../src/db/database.ts'
import type { Log } from '../../../src/telemetry/log.ts'
import { createTestSso, testSignIn } from '../../harness/management.ts'
import type { Answer } from '../../harness/management-service.ts'
import { openSso, type Sso, type SsoBrowser } from '../open-sso.ts'
import { readQuestion, SamlProvider, type Person, type Question, type SamlLie } from './saml-provider.ts'

const operator = { kind: 'operator' } as const

export const newSamlConnection = {
  name: 'Provider',
  groupsClaim: 'groups',
  makesMembers: true,
  signsOutThere: false,
  defaultRole: 'developer',
  nameIdFormat: 'persistent',
  emailAttribute: null,
  nameAttribute: null,
  verifiesEmails: true,
  forcesSignIn: false,
  authnContext: null,
  providerInitiated: 'off',
} as const

type Connecting = Partial<SamlSettings> & {
  readonly source?: MetadataSource
  readonly organizationId?: OrganizationId
  readonly makesMembers?: boolean
  readonly signsOutThere?: boolean
}

/** A way to the provider that a browser has begun. */
export type Begun = { readonly connectionId: ConnectionId; readonly browser: SsoBrowser; readonly question: Question }

export type Saml = Pick<Sso, 'service' | 'company' | 'browser'> & {
  readonly provider: SamlProvider
  connect(settings?: Connecting): Promise<ConnectionId>
  /** The certificate by which the service is known for a connection. */
  certificateOf(id: ConnectionId): Promise<string>
  begin(connectionId: ConnectionId, query?: string, browser?: SsoBrowser): Promise<Begun>
  /** Answers, and brings the answer to the service. */
  answer(begun: Begun, person: Person, lie?: SamlLie, relayState?: string): Promise<Answer>
  send(begun: Pick<Begun, 'connectionId' | 'browser'>, fields: Record<string, string> | string): Promise<Answer>
  person(): Person & { readonly groups?: readonly string[] }
  close(): Promise<void>
}

/** A service with an organization whose domain is `acme.example`, and a provider that speaks SAML. */
export async function openSaml(db: Database, startMs?: number, log?: Log): Promise<Saml> {
  const sso = await openSso(db, startMs, log)
  const { service, company } = sso
  const provider = await SamlProvider.open(() => service.clock.nowMs())
  const parts = { ...service.accounts, signIn: testSignIn, sso: createTestSso(service.accounts) }
  let people = 0
  const saml: Saml = {
    service,
    company,
    provider,
    browser: sso.browser,
    async connect({ organizationId = company.organizationId, ...settings } = {}) {
      const source = { metadata: provider.metadata() }
      const wanted = { ...newSamlConnection, source, ...settings, organizationId }
      const id = await createSamlConnection(parts, operator, wanted)
      await setConnectionOn(parts, operator, { id, organizationId }, true)
      return id
    },
    async certificateOf(id) {
      const { text } = await service.ask({ path: `/sso/${id}/metadata` })
      return /<ds:X509Certificate>([^<]+)</.exec(text)?.[1] ?? ''
    },
    async begin(connectionId, query = '', browser = sso.browser()) {
      const location = await browser.begin(connectionId, query)
      return { connectionId, browser, question: readQuestion(location, await saml.certificateOf(connectionId)) }
    },
    async answer(begun, person, lie = {}, relayState) {
      const certificate = lie.encrypting === undefined ? '' : await saml.certificateOf(begun.connectionId)
      const SAMLResponse = provider.respond(begun.question, person, { ...lie, certificate })
      return saml.send(begun, { SAMLResponse, ...(relayState !== undefined && { RelayState: relayState }) })
    },
    async send({ connectionId, browser }, fields) {
      const answer = await browser.post(`/sso/${connectionId}/acs`, fields)
      return answer.status === 303 ? browser.go(String(answer.headers['location'])) : answer
    },
    person() {
      people += 1
      return { nameId: `person-${people}`, email: `saml${people}@acme.example` }
    },
    close: () => sso.close(),
  }
  return saml
}

export async function attemptsOf({ service }: Pick<Saml, 'service'>, id: ConnectionId) {
  const rows = await service.db
    .selectFrom('login_attempts')
    .select(['outcome', 'code'])
    .where('connection_id', '=', id)
    .orderBy('at')
    .execute()
  return rows.map(({ outcome, code }) => ({ outcome, code }))
}

const counted = ['users', 'members', 'sessions', 'identities', 'sso_results'] as const

/** How many users, members, sessions and identities there are, results that wait, and ways that were used. */
export async function countAll({ service }: Pick<Saml, 'service'>): Promise<number[]> {
  const row = await service.db
    .selectNoFrom((from) => [
      ...counted.map((table) => from.selectFrom(table).select(countRows).as(table)),
      from.selectFrom('sso_flows').select(countRows).where('used_at', 'is not', null).as('used'),
    ])
    .executeTakeFirstOrThrow()
  return [...counted, 'used' as const].map((name) => Number(row[name]))
}

const countRows = sql<number>`count(*)`.as('count')
