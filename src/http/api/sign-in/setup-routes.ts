import { z } from 'zod'
import { hashToken } from '../../../accounts/sign-in/one-time.ts'
import { completeSetup, isSetupNeeded } from '../../../accounts/sign-in/setup.ts'
import { defineRoute, type Route } from '../route.ts'
import { name, nowhere, organizationId, projectId } from '../schemas.ts'
import { holdRefusals } from './hold-refusals.ts'
import { bindingOf, credential, email, examplePassword, show, signedIn, signInParts, token } from './schemas.ts'

const path = '/api/v1/setup'
const facts = { permission: 'public', scope: 'installation', params: nowhere, path } as const

export const setupRoutes: readonly Route[] = [
  defineRoute({
    ...facts,
    method: 'GET',
    summary: 'Read whether a first owner has to be made',
    answer: z.strictObject({ isNeeded: z.boolean() }).meta({ id: 'Setup' }),
    work: async ({ parts }) => ({ isNeeded: await isSetupNeeded(parts.accounts) }),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    hasOwnTransactions: true,
    summary: 'Make the first owner with the link that the start of the service has printed, and sign in',
    body: z.strictObject({ token, name, email, organizationName: name, credential }).meta({ id: 'FirstOwner' }),
    example: {
      token: 'x',
      name: 'Ann Lee',
      email: 'ann@example.org',
      organizationName: 'Acme',
      credential: examplePassword,
    },
    answer: signedIn.extend({ organizationId, projectId }).meta({ id: 'SetUp' }),
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        const asked = { purpose: `setup ${hashToken(body.token)}`, userId: null } as const
        const use = { ...body, ...bindingOf(parts, body.credential, asked), browser: parts.browser.whereabouts }
        const {
          organizationId: organization,
          projectId: project,
          ...begun
        } = await completeSetup(signInParts(parts), use)
        return { ...show(parts, begun), organizationId: organization, projectId: project }
      }),
  }),
]
