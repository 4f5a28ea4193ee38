import { z } from 'zod'
import { readConnection, type ConnectionReference } from '../../../accounts/single-sign-on/read-connections.ts'
import { listCertificates } from '../../../accounts/single-sign-on/saml/certificates.ts'
import {
  createSamlConnection,
  readSamlConnection,
  rotateSamlKey,
  updateSamlConnection,
} from '../../../accounts/single-sign-on/saml/saml-connections.ts'
import { providerInitiated } from '../../../db/tables/saml.ts'
import { invalidRequest } from '../../../core/error.ts'
import type { Principal } from '../../../core/principal.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { given, inOrganization, time, toTime, toTimeOrNull } from '../schemas.ts'
import { signInParts } from '../sign-in/schemas.ts'
import { connection, connectionSettings, connectionsPath, ofConnection, show } from './connection-routes.ts'

const address = z.url({ protocol: /^https?$/ }).max(2_000)
const attributeName = z.string().min(1).max(500).nullable()

const settings = {
  nameIdFormat: z
    .enum(['persistent', 'email', 'unspecified'])
    .describe('How the provider names people. Changing it makes others of all who are known.'),
  emailAttribute: attributeName.describe('The attribute with the e-mail address; null for its usual names.'),
  nameAttribute: attributeName.describe('The attribute with the person’s name; null for its usual names.'),
  verifiesEmails: z
    .boolean()
    .describe('Whether nobody can have another’s e-mail address there; only then is anybody recognised by one.'),
  forcesSignIn: z.boolean().describe('Whether the provider asks at each sign-in who somebody is.'),
  authnContext: z.string().min(1).max(500).nullable().describe('The kind of sign-in that is demanded; null for any.'),
  providerInitiated: z
    .enum(providerInitiated)
    .describe('What becomes of a sign-in that the provider begins: refused, or begun anew from here.'),
} as const

const source = {
  metadataUrl: address.optional().describe('Where the provider’s description is read, now and again and again.'),
  metadata: z.string().min(1).max(1_000_000).optional().describe('The description itself.'),
  provider: z
    .strictObject({
      entityId: z.string().min(1).max(1_024),
      signInUrl: address,
      signOutUrl: address.nullable().default(null),
      certificates: z.array(z.string().min(1).max(20_000)).min(1).max(4),
    })
    .optional()
    .describe('What the description would say.'),
} as const

const newConnection = z
  .strictObject({
    ...source,
    name: connectionSettings.name,
    groupsClaim: connectionSettings.groupsClaim.default('groups').describe('The attribute with the groups.'),
    makesMembers: connectionSettings.makesMembers.default(false),
    signsOutThere: connectionSettings.signsOutThere.default(false),
    defaultRole: connectionSettings.defaultRole.default('developer'),
    nameIdFormat: settings.nameIdFormat.default('persistent'),
    emailAttribute: settings.emailAttribute.default(null),
    nameAttribute: settings.nameAttribute.default(null),
    verifiesEmails: settings.verifiesEmails.default(false),
    forcesSignIn: settings.forcesSignIn.default(false),
    authnContext: settings.authnContext.default(null),
    providerInitiated: settings.providerInitiated.default('off'),
  })
  .meta({ id: 'NewSamlConnection' })

const changes = z
  .strictObject({ ...settings, ...source })
  .partial()
  .meta({ id: 'SamlConnectionChanges' })

const samlConnection = z
  .strictObject({
    ...settings,
    metadataUrl: z.string().nullable(),
    signInUrl: z.string(),
    signOutUrl: z.string().nullable(),
    readAt: time.describe('When the provider’s description was last read.'),
    failedAt: time.nullable().describe('Since when it cannot be read; what it said before is in force.'),
    failure: z.string().nullable(),
  })
  .meta({ id: 'SamlConnection' })

const certificate = z
  .strictObject({
    sha256: z.string(),
    notAfter: time,
    seenAt: time,
    goneAt: time.nullable().describe('Since when the description has it no more, and nothing it signs is taken.'),
  })
  .meta({ id: 'ConnectionCertificate' })

type Source = z.output<z.ZodObject<typeof source>>

/** Exactly one of the three; none where nothing of it changes. */
function findSource({ metadataUrl, metadata, provider }: Source) {
  const all = [
    ...(metadataUrl === undefined ? [] : [{ metadataUrl }]),
    ...(metadata === undefined ? [] : [{ metadata }]),
    ...(provider === undefined ? [] : [provider]),
  ]
  if (all.length > 1)
    throw invalidRequest(['metadata'], 'value', 'Give metadataUrl, metadata or provider, and one alone.')
  return all[0]
}

function samlParts(parts: RouteParts) {
  return { ...signInParts(parts), sso: parts.management.sso }
}

async function showSaml(parts: RouteParts, principal: Principal, reference: ConnectionReference) {
  const { readAtMs, failedAtMs, ...rest } = await readSamlConnection(parts.accounts, principal, reference)
  return { ...rest, readAt: toTime(readAtMs), failedAt: toTimeOrNull(failedAtMs) }
}

export const samlRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: `${connectionsPath}/saml`,
    permission: 'connections:create',
    scope: 'organization',
    needsProof: true,
    // A description is fetched meanwhile, and nobody waits for that.
    hasOwnTransactions: true,
    summary: 'Make a connection to an identity provider that speaks SAML 2.0. It is a draft until it is enabled',
    params: inOrganization,
    body: newConnection,
    example: {
      name: 'Entra',
      provider: {
        entityId: 'https://idp.example.com/saml',
        signInUrl: 'https://idp.example.com/sso',
        certificates: ['MIIC…'],
      },
    },
    answer: connection,
    async work({ parts, principal, params, body: { metadataUrl, metadata, provider, ...body } }) {
      const found = findSource({ metadataUrl, metadata, provider })
      if (found === undefined)
        throw invalidRequest(['metadataUrl'], 'missing', 'Give metadataUrl, metadata or provider.')
      const made = await createSamlConnection(samlParts(parts), principal, { ...params, ...body, source: found })
      return show(parts, await readConnection(parts.accounts, principal, { ...params, id: made }))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}/saml`,
    permission: 'connections:read',
    summary: 'Read what is particular to SAML of a connection',
    answer: samlConnection,
    work: ({ parts, principal, params: { connectionId: chosen, ...params } }) =>
      showSaml(parts, principal, { ...params, id: chosen }),
  }),
  defineRoute({
    ...ofConnection,
    method: 'PATCH',
    path: `${connectionsPath}/{connectionId}/saml`,
    permission: 'connections:update',
    needsProof: true,
    hasOwnTransactions: true,
    summary: 'Change what is particular to SAML of a connection; what is not given stays',
    body: changes,
    example: { verifiesEmails: true },
    answer: samlConnection,
    async work({ parts, principal, params: { connectionId: chosen, ...params }, body }) {
      const { metadataUrl, metadata, provider, ...rest } = body
      const found = findSource({ metadataUrl, metadata, provider })
      const reference = { ...params, id: chosen }
      const changed = { ...given(rest), ...(found !== undefined && { source: found }) }
      await updateSamlConnection(samlParts(parts), principal, reference, changed)
      return showSaml(parts, principal, reference)
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}/certificates`,
    permission: 'connections:read',
    summary: 'List the certificates of the provider that are trusted, or were',
    answer: z.strictObject({ data: z.array(certificate), next: z.null() }),
    async work({ parts, principal, params: { connectionId: chosen, ...params } }) {
      const found = await listCertificates(parts.accounts, principal, { ...params, id: chosen })
      const data = found.map(({ notAfterMs, seenAtMs, goneAtMs, ...rest }) => {
        return { ...rest, notAfter: toTime(notAfterMs), seenAt: toTime(seenAtMs), goneAt: toTimeOrNull(goneAtMs) }
      })
      return { data, next: null }
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'POST',
    path: `${connectionsPath}/{connectionId}/rotate-key`,
    permission: 'connections:update',
    needsProof: true,
    summary:
      'Publish a new key of this service beside the one in use; the second time, sign with it and forget the old',
    answer: z.strictObject({ key: z.enum(['published', 'in-use']) }),
    work: async ({ parts, principal, params: { connectionId: chosen, ...params } }) => ({
      key: await rotateSamlKey(signInParts(parts), principal, { ...params, id: chosen }),
    }),
  }),
]
