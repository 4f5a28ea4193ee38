import { z } from 'zod'
import { listAttempts } from '../../../accounts/single-sign-on/attempts.ts'
import {
  createConnection,
  removeConnection,
  setConnectionOn,
  signingAlgorithms,
  tokenAuths,
  updateConnection,
} from '../../../accounts/single-sign-on/connections.ts'
import { listConnections, readConnection, type Connection } from '../../../accounts/single-sign-on/read-connections.ts'
import { signedOutUri } from '../../../accounts/single-sign-on/sign-in-by-connection.ts'
import { enforceConnection, relaxConnection } from '../../../accounts/single-sign-on/enforcement.ts'
import { connectionStates } from '../../../db/tables/single-sign-on.ts'
import { roles } from '../../../core/role.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { given, id, inOrganization, memberId, name, role, time, toTime, toTimeOrNull } from '../schemas.ts'
import { signInParts } from '../sign-in/schemas.ts'

const connectionId = id('conn')
export const connectionsPath = '/api/v1/organizations/{organizationId}/connections'
const inConnection = inOrganization.extend({ connectionId })

/** No provider makes owners. */
export const givenRole = z.enum(roles).exclude(['owner'])

export const connectionSettings = {
  name,
  clientId: z.string().min(1).max(500),
  tokenAuth: z.enum(tokenAuths).describe('How the client secret is shown to the provider.'),
  signingAlgorithm: z.enum(signingAlgorithms).describe('How the provider signs its ID tokens.'),
  scopes: z
    .string()
    .regex(/^openid(?: [!-~]+)*$/, 'begins with openid')
    .max(500),
  tenant: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe('What the claim `tid` or `hd` has to say, where one issuer serves many tenants.'),
  groupsClaim: z.string().regex(/^[!-~]{1,200}$/),
  makesMembers: z
    .boolean()
    .describe('Whether somebody unknown with an address of a verified domain becomes a member by signing in.'),
  signsOutThere: z.boolean().describe('Whether signing out here signs out at the provider too.'),
  defaultRole: givenRole.describe('Of whom no mapping gives another; never `owner`.'),
} as const

export const connection = z
  .strictObject({
    id: connectionId,
    kind: z.enum(['oidc', 'saml']).describe('OpenID Connect or SAML 2.0.'),
    state: z.enum(connectionStates),
    issuer: z.string(),
    redirectUri: z.string().describe('What the provider has to be told; where it sends browsers back to.'),
    startUri: z.string().describe('Where members sign in.'),
    logoutUri: z.string().describe('Where the provider says that somebody has signed out there.'),
    signedOutUri: z
      .string()
      .nullable()
      .describe('Where a provider that speaks OpenID Connect sends browsers back to that have signed out there.'),
    metadataUri: z
      .string()
      .nullable()
      .describe('What a provider that speaks SAML reads of this service, and its name.'),
    ...connectionSettings,
    clientId: z
      .string()
      .nullable()
      .describe('This and what follows as far as the tenant is null where SAML is spoken.'),
    tokenAuth: connectionSettings.tokenAuth.nullable(),
    signingAlgorithm: z.string().nullable(),
    scopes: z.string().nullable(),
    defaultRole: role,
    enforcedAt: time.nullable().describe('Since when members come in by this connection alone.'),
    breakGlassId: memberId.nullable().describe('The owner who comes in without it all the same.'),
    testedBy: id('usr').nullable(),
    testedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'Connection' })

const newConnection = z
  .strictObject({
    ...connectionSettings,
    issuer: z
      .url({ protocol: /^https?$/ })
      .max(500)
      .describe('Exactly as the provider’s description has it. It cannot be changed later.'),
    clientSecret: z.string().min(1).max(2_000),
    tokenAuth: connectionSettings.tokenAuth.default('client_secret_basic'),
    signingAlgorithm: connectionSettings.signingAlgorithm.default('RS256'),
    scopes: connectionSettings.scopes.default('openid email profile'),
    tenant: connectionSettings.tenant.default(null),
    groupsClaim: connectionSettings.groupsClaim.default('groups'),
    makesMembers: connectionSettings.makesMembers.default(false),
    signsOutThere: connectionSettings.signsOutThere.default(false),
    defaultRole: connectionSettings.defaultRole.default('developer'),
  })
  .meta({ id: 'NewConnection' })

const changes = z
  .strictObject({ ...connectionSettings, clientSecret: z.string().min(1).max(2_000) })
  .partial()
  .meta({ id: 'ConnectionChanges' })

const attempt = z
  .strictObject({
    id: id('att'),
    at: time,
    outcome: z.enum(['signed-in', 'linked', 'refused']),
    code: z.string().nullable(),
    reason: z.string().nullable().describe('Why it was refused, in words.'),
    userId: id('usr').nullable(),
    requestId: z.string(),
  })
  .meta({ id: 'LoginAttempt' })

export function show(parts: RouteParts, found: Connection): z.input<typeof connection> {
  const { enforcedAtMs, testedAtMs, createdAtMs, ...rest } = found
  const base = `${parts.management.siteUrl()}/sso/${found.id}`
  return {
    ...rest,
    redirectUri: found.kind === 'saml' ? `${base}/acs` : `${base}/callback`,
    startUri: `${base}/start`,
    logoutUri: found.kind === 'saml' ? `${base}/slo` : `${base}/backchannel-logout`,
    signedOutUri: found.kind === 'saml' ? null : signedOutUri(parts.management),
    metadataUri: found.kind === 'saml' ? `${base}/metadata` : null,
    enforcedAt: toTimeOrNull(enforcedAtMs),
    testedAt: toTimeOrNull(testedAtMs),
    createdAt: toTime(createdAtMs),
  }
}

/** What all routes of one connection have. */
export const ofConnection = { scope: 'organization', params: inConnection } as const

export const connectionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: connectionsPath,
    permission: 'connections:read',
    scope: 'organization',
    summary: 'List the connections to identity providers',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(connection), next: z.null() }),
    async work({ parts, principal, params }) {
      const found = await listConnections(parts.accounts, principal, params.organizationId)
      return { data: found.map((one) => show(parts, one)), next: null }
    },
  }),
  defineRoute({
    method: 'POST',
    path: connectionsPath,
    permission: 'connections:create',
    scope: 'organization',
    needsProof: true,
    summary: 'Make a connection to an identity provider that speaks OpenID Connect. It is a draft until it is enabled',
    params: inOrganization,
    body: newConnection,
    example: { name: 'Okta', issuer: 'https://idp.example.com', clientId: 'odyssey', clientSecret: 'x' },
    answer: connection,
    async work({ parts, principal, params, body }) {
      const made = await createConnection(signInParts(parts), principal, { ...params, ...body })
      return show(parts, await readConnection(parts.accounts, principal, { ...params, id: made }))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}`,
    permission: 'connections:read',
    summary: 'Read a connection',
    answer: connection,
    work: async ({ parts, principal, params: { connectionId: chosen, ...params } }) =>
      show(parts, await readConnection(parts.accounts, principal, { ...params, id: chosen })),
  }),
  defineRoute({
    ...ofConnection,
    method: 'PATCH',
    path: `${connectionsPath}/{connectionId}`,
    permission: 'connections:update',
    needsProof: true,
    summary: 'Change a connection; what is not given stays',
    body: changes,
    example: { name: 'Okta of the company' },
    answer: connection,
    async work({ parts, principal, params: { connectionId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      await updateConnection(signInParts(parts), principal, reference, given(body))
      return show(parts, await readConnection(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'DELETE',
    path: `${connectionsPath}/{connectionId}`,
    permission: 'connections:remove',
    needsProof: true,
    summary: 'Remove a connection, and with it whom it knows and who is signed in by it',
    answer: 'nothing',
    work: ({ parts, principal, params: { connectionId: chosen, ...params } }) =>
      removeConnection(signInParts(parts), principal, { ...params, id: chosen }),
  }),
  setOn('enable', true, 'Let members sign in by a connection'),
  setOn('disable', false, 'Let nobody sign in by a connection; who is signed in by it is so no more'),
  defineRoute({
    ...ofConnection,
    method: 'POST',
    path: `${connectionsPath}/{connectionId}/enforce`,
    permission: 'connections:enforce',
    needsProof: true,
    summary: 'Let members in by this connection alone, but for one owner who comes in with a passkey or an app',
    body: z.strictObject({ breakGlassId: memberId }),
    example: { breakGlassId: 'mem_break_glass' },
    answer: connection,
    async work({ parts, principal, params: { connectionId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      await enforceConnection(signInParts(parts), principal, { ...reference, ...body })
      return show(parts, await readConnection(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'POST',
    path: `${connectionsPath}/{connectionId}/relax`,
    permission: 'connections:enforce',
    needsProof: true,
    summary: 'Let members in by their other ways of signing in too',
    answer: connection,
    async work({ parts, principal, params: { connectionId: chosen, ...params } }) {
      const reference = { ...params, id: chosen }
      await relaxConnection(signInParts(parts), principal, reference)
      return show(parts, await readConnection(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}/attempts`,
    permission: 'connections:read',
    summary: 'List the latest attempts to sign in by a connection, with the reasons of those that were refused',
    answer: z.strictObject({ data: z.array(attempt), next: z.null() }),
    async work({ parts, principal, params: { connectionId: chosen, ...params } }) {
      const found = await listAttempts(signInParts(parts), principal, { ...params, id: chosen })
      return { data: found.map(({ atMs, ...rest }) => ({ ...rest, at: toTime(atMs) })), next: null }
    },
  }),
]

function setOn(verb: string, isOn: boolean, summary: string): Route {
  return defineRoute({
    ...ofConnection,
    method: 'POST',
    path: `${connectionsPath}/{connectionId}/${verb}`,
    permission: 'connections:update',
    needsProof: true,
    summary,
    answer: connection,
    async work({ parts, principal, params: { connectionId: chosen, ...params } }) {
      const reference = { ...params, id: chosen }
      await setConnectionOn(signInParts(parts), principal, reference, isOn)
      return show(parts, await readConnection(parts.accounts, principal, reference))
    },
  })
}
