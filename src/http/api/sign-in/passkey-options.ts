import { z } from 'zod'
import { readInvitation } from '../../../accounts/sign-in/accept-invitation.ts'
import { hashToken } from '../../../accounts/sign-in/one-time.ts'
import {
  askForPasskey,
  offerPasskey,
  type ChallengeFor,
  type PasskeyOwner,
} from '../../../accounts/sign-in/passkeys.ts'
import { readLink } from '../../../accounts/sign-in/setup.ts'
import { readProfile } from '../../../accounts/sign-in/users.ts'
import { ApiError } from '../../../core/error.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { name, nowhere } from '../schemas.ts'
import { holdRefusals } from './hold-refusals.ts'
import { email, signInParts, token } from './schemas.ts'

const wanted = z.discriminatedUnion('for', [
  z.strictObject({ for: z.literal('sign-in') }),
  z.strictObject({ for: z.literal('proof') }),
  z.strictObject({ for: z.literal('add') }),
  z.strictObject({ for: z.literal('setup'), token, name, email }),
  z.strictObject({ for: z.literal('invitation'), token, name }),
  z.strictObject({ for: z.literal('link'), token }),
])
type Wanted = z.output<typeof wanted>

const options = z
  .strictObject({
    publicKey: z
      .record(z.string(), z.unknown())
      .describe('For `PublicKeyCredential.parseRequestOptionsFromJSON` or `…parseCreationOptionsFromJSON`.'),
  })
  .meta({ id: 'PasskeyOptions' })

export const passkeyOptionsRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/session/passkey/options',
    permission: 'public',
    scope: 'installation',
    summary:
      'Get what a browser needs to use a passkey or to make one; it counts once, in this browser, for five minutes',
    params: nowhere,
    hasOwnTransactions: true,
    body: wanted,
    example: { for: 'sign-in' },
    answer: options,
    work: ({ parts, body }) => holdRefusals(parts, async () => ({ publicKey: await createOptions(parts, body) })),
  }),
]

async function createOptions(parts: RouteParts, body: Wanted): Promise<Record<string, unknown>> {
  const { party } = parts.browser
  const signIn = signInParts(parts)
  if (body.for === 'sign-in') {
    return askForPasskey(signIn, party, { purpose: 'sign-in', browser: parts.browser.beginFlow(), userId: null })
  }
  if (body.for === 'proof') {
    const userId = await findUser(parts)
    return askForPasskey(signIn, party, { purpose: 'proof', browser: parts.browser.beginFlow(), userId })
  }
  const offered = await findOwner(parts, body)
  return offerPasskey(signIn, party, { ...offered, browser: parts.browser.beginFlow() })
}

type Offered = Omit<ChallengeFor, 'browser'> & { readonly owner: PasskeyOwner; readonly endsOthers?: boolean }

/** Finds who is to have a new passkey. */
async function findOwner(
  parts: RouteParts,
  body: Exclude<Wanted, { readonly for: 'sign-in' | 'proof' }>,
): Promise<Offered> {
  const signIn = signInParts(parts)
  switch (body.for) {
    case 'setup': {
      await readLink(signIn, body.token, 'setup')
      const owner = { name: body.name, email: body.email }
      return { purpose: `setup ${hashToken(body.token)}`, userId: null, owner }
    }
    case 'invitation': {
      const invitation = await readInvitation(signIn, body.token)
      const owner = { name: body.name, email: invitation.email }
      return { purpose: `invitation ${hashToken(body.token)}`, userId: null, owner }
    }
    case 'link': {
      const { userId, endsOthers } = await readLink(signIn, body.token, 'recovery')
      if (userId === null) throw new Error('The link of the first owner is for nobody else.')
      return { purpose: `link ${hashToken(body.token)}`, userId, endsOthers, owner: await readProfile(signIn, userId) }
    }
    case 'add': {
      const userId = await findUser(parts)
      return { purpose: 'add', userId, owner: await readProfile(signIn, userId) }
    }
  }
}

async function findUser({ browser, management }: RouteParts) {
  const session = await browser.findSession(management)
  if (session !== null) return session.user.id
  throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in.')
}
