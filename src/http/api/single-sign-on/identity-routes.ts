import { z } from 'zod'
import { SsoFault } from '../../../accounts/single-sign-on/fault.ts'
import {
  beginByConnection,
  findConnectionOf,
  findUsableConnection,
} from '../../../accounts/single-sign-on/sign-in-by-connection.ts'
import { breakGlassMethods } from '../../../accounts/sign-in/memberships.ts'
import { may, notFound } from '../../../core/permission.ts'
import { conflict } from '../../../core/error.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { id, nowhere } from '../schemas.ts'
import { email, requireSession, signInParts } from '../sign-in/schemas.ts'

const connectionId = id('conn')

export const identityRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/session/sso',
    permission: 'public',
    scope: 'installation',
    hasOwnTransactions: true,
    summary: 'Find where somebody signs in by their organization’s provider, by the domain of their e-mail address',
    params: nowhere,
    body: z.strictObject({ email }),
    example: { email: 'ann@example.org' },
    answer: z.strictObject({
      location: z.string().nullable().describe('The page to go to; null where there is none.'),
    }),
    async work({ parts, body }) {
      const found = await findConnectionOf(parts.accounts, body.email)
      return { location: found === null ? null : `/sso/${found.id}/start` }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/me/identities',
    permission: 'self',
    scope: 'installation',
    hasOwnTransactions: true,
    needsProof: true,
    summary: 'Begin to link one’s identity at an organization’s provider, which also tries its connection',
    params: nowhere,
    body: z.strictObject({ connectionId }),
    example: { connectionId: 'conn_nowhere' },
    answer: z.strictObject({ location: z.string().describe('The provider’s page to go to.') }),
    work: ({ parts, body }) => beginLink(parts, body.connectionId),
  }),
]

/** Members link theirs to a connection that is on; a draft is tried by who looks after it. */
async function beginLink(parts: RouteParts, chosen: `conn_${string}`): Promise<{ location: string }> {
  const session = requireSession(parts)
  const sso = { ...signInParts(parts), sso: parts.management.sso }
  try {
    const connection = await findUsableConnection(sso, chosen, ['on', 'draft'])
    const organizationId = connection.organization_id
    const member = session.memberships.find((one) => one.organizationId === organizationId)?.principal
    // A password alone does not open the organization, so it links nobody to it either.
    const isStrong = breakGlassMethods.includes(session.proof.method)
    const isClosed = isStrong && session.closed.some((one) => one.connectionId === connection.id)
    const mayTry = member !== undefined && may(member, 'connections:update', { organizationId })
    const isFor = connection.state === 'on' ? member !== undefined || isClosed : mayTry
    if (!isFor) throw notFound()
    const flow = { connection, next: '/account', userId: session.user.id, isProof: false }
    return { location: await beginByConnection(sso, { ...flow, browser: parts.browser.beginSso() }) }
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error
    if (error.code === 'connection-off') throw notFound()
    throw conflict(error.message, { cause: error })
  }
}
