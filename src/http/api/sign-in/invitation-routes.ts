import { z } from 'zod'
import { acceptInvitation, readInvitation } from '../../../accounts/sign-in/accept-invitation.ts'
import {
  createInvitation,
  findInvitation,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
  type Invitation,
  type SentInvitation,
} from '../../../accounts/sign-in/invitations.ts'
import { noteMailing } from '../../../accounts/sign-in/note-mailing.ts'
import { hashToken } from '../../../accounts/sign-in/one-time.ts'
import { conflict, invalidRequest } from '../../../core/error.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import type { Principal } from '../../../core/principal.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import {
  id,
  inOrganization,
  name,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  projectId,
  role,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'
import { holdRefusals } from './hold-refusals.ts'
import { mailInvitation } from './mail-invitation.ts'
import { bindingOf, credential, email, examplePassword, show, signedIn, signInParts, token } from './schemas.ts'

const invitationId = id('inv')
const invitation = z
  .strictObject({
    id: invitationId,
    email: z.string(),
    role,
    projectIds: z.array(projectId),
    invitedBy: z.string().describe('Who invited, as the audit names them.'),
    createdAt: time,
    endsAt: time,
    acceptedAt: time.nullable(),
    withdrawnAt: time.nullable(),
  })
  .meta({ id: 'Invitation' })

const sent = z
  .strictObject({ invitation, link: z.string().describe('The link to hand over. It is shown only now.') })
  .meta({ id: 'SentInvitation' })

function describe({ createdAtMs, endsAtMs, acceptedAtMs, withdrawnAtMs, projectIds, ...rest }: Invitation) {
  const [acceptedAt, withdrawnAt] = [toTimeOrNull(acceptedAtMs), toTimeOrNull(withdrawnAtMs)]
  const times = { createdAt: toTime(createdAtMs), endsAt: toTime(endsAtMs), acceptedAt, withdrawnAt }
  return { ...rest, projectIds: [...projectIds], ...times }
}

type In = { readonly parts: RouteParts; readonly principal: Principal; readonly organization: OrganizationId }

async function describeSent({ parts, principal, organization }: In, { id: made, token: opening }: SentInvitation) {
  const reference = { organizationId: organization, id: made }
  const found = await findInvitation(signInParts(parts), principal, reference)
  return { invitation: describe(found), link: linkOf(parts, opening) }
}

function linkOf({ management }: Pick<RouteParts, 'management'>, opening: string): string {
  return `${management.siteUrl()}/invite#${opening}`
}

const path = '/api/v1/organizations/{organizationId}/invitations'
const inInvitation = inOrganization.extend({ invitationId })
const facts = { permission: 'members:create', scope: 'organization' } as const
const publicFacts = { permission: 'public', scope: 'installation', params: nowhere, hasOwnTransactions: true } as const

export const invitationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'members:read',
    scope: 'organization',
    summary: 'List the invitations, those that are over included',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(invitation),
    work: async ({ parts, principal, params, query }) =>
      toPage(await listInvitations(signInParts(parts), principal, { ...params, ...toPageRequest(query) }), describe),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path,
    summary: 'Invite somebody, for seven days. An open invitation of the same address ends',
    params: inOrganization,
    body: z
      .strictObject({ email, role, projectIds: z.array(projectId).max(100).default([]) })
      .meta({ id: 'NewInvitation' }),
    needsProof: (body: { readonly role: string }) => body.role === 'owner',
    example: { email: 'ann@example.org', role: 'developer', projectIds: ['proj_default'] },
    answer: sent,
    async work({ parts, principal, params, body }) {
      const made = await createInvitation(signInParts(parts), principal, { ...params, ...body })
      return describeSent({ parts, principal, organization: params.organizationId }, made)
    },
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/{invitationId}/resend`,
    summary: 'Make a new link for an invitation, for another seven days',
    params: inInvitation,
    // The role is the invitation's, which the request does not say.
    needsProof: true,
    answer: sent,
    async work({ parts, principal, params: { invitationId: chosen, ...params } }) {
      const made = await resendInvitation(signInParts(parts), principal, { ...params, id: chosen })
      return describeSent({ parts, principal, organization: params.organizationId }, made)
    },
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/{invitationId}/mail`,
    summary: 'Mail an invitation to its address by the operator’s relay, with the link that was shown',
    params: inInvitation,
    body: z.strictObject({ token: token.describe('What stands behind the # of the link.') }).meta({ id: 'MailedLink' }),
    example: { token: 'token of the link' },
    // The relay is not waited for inside of a transaction.
    hasOwnTransactions: true,
    answer: z.strictObject({ mailedTo: z.string() }).meta({ id: 'MailedInvitation' }),
    async work({ parts, principal, params: { invitationId: chosen, ...params }, body }) {
      const { mailer, mail: rules, publicUrl } = parts.management
      if (mailer === null)
        throw conflict('The operator has set no mail relay (alerts.mail): hand the link on yourself.')
      if (publicUrl === null) {
        throw conflict(
          'The service does not know its address for others (server.publicUrl), which a link by mail needs.',
        )
      }
      const mailing = await noteMailing(signInParts(parts), principal, { ...params, id: chosen, ...body })
      const atMs = parts.accounts.clock.nowMs()
      await mailInvitation({ mailer, rules }, { mailing, siteUrl: publicUrl, link: linkOf(parts, body.token), atMs })
      return { mailedTo: mailing.email }
    },
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{invitationId}`,
    summary: 'Withdraw an invitation',
    params: inInvitation,
    answer: 'nothing',
    work: ({ parts, principal, params: { invitationId: chosen, ...params } }) =>
      withdrawInvitation(signInParts(parts), principal, { ...params, id: chosen }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: '/api/v1/invitations/look',
    summary: 'Read what a link invites to; it is not used up',
    body: z.strictObject({ token }),
    example: { token: 'x' },
    answer: z.strictObject({
      organizationName: z.string(),
      email: z.string(),
      role,
      invitedBy: z.string().nullable().describe('The name of the member who invited.'),
      endsAt: time,
      signedInAs: z.string().nullable().describe('The address of whoever is signed in in this browser.'),
      isVouched: z
        .boolean()
        .describe(
          'Whether a provider has signed them in, so that they accept with a passkey or a password of their own.',
        ),
    }),
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        const found = await readInvitation(signInParts(parts), body.token)
        const session = await parts.browser.findSession(parts.management)
        return {
          organizationName: found.organization_name,
          email: found.email,
          role: found.role,
          invitedBy: found.inviter_name,
          endsAt: toTime(found.ends_at),
          signedInAs: session?.user.email ?? null,
          isVouched: session !== null && session.connectionId !== null,
        }
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: '/api/v1/invitations/accept',
    summary:
      'Accept an invitation: with a credential as somebody new or by a provider’s word, or without one as who is signed in',
    body: z.strictObject({ token, name: name.optional(), credential: credential.nullable() }),
    example: { token: 'x', name: 'Ann Lee', credential: examplePassword },
    answer: signedIn.extend({ organizationId }).meta({ id: 'AcceptedInvitation' }),
    work: ({ parts, body }) => holdRefusals(parts, () => accept(parts, body)),
  }),
]

type Given = {
  readonly token: string
  readonly name?: string | undefined
  readonly credential: z.output<typeof credential> | null
}

async function accept(parts: RouteParts, { token: opening, name: person, credential: chosen }: Given) {
  const signIn = signInParts(parts)
  const session = await parts.browser.findSession(parts.management)
  if (chosen === null) {
    if (session === null)
      throw invalidRequest(['credential'], 'missing', 'Whoever is not signed in needs a credential.')
    const accepted = await acceptInvitation(signIn, { token: opening, session })
    return { state: 'signed-in' as const, organizationId: accepted.organizationId }
  }
  const asked = { purpose: `invitation ${hashToken(opening)}`, userId: null } as const
  const binding = bindingOf(parts, chosen, asked)
  const use = { token: opening, credential: chosen, name: person, ...binding, browser: parts.browser.whereabouts }
  const { organizationId: joined, signedIn: begun } = await acceptInvitation(signIn, { ...use, session })
  if (begun === null) throw new Error('Whoever accepted with a credential was not signed in.')
  return { ...show(parts, begun), organizationId: joined }
}
