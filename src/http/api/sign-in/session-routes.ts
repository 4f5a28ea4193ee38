import { z } from 'zod'
import { hashToken } from '../../../accounts/sign-in/one-time.ts'
import { readLink } from '../../../accounts/sign-in/setup.ts'
import {
  completeSignIn,
  proveAgain,
  signInWithPasskey,
  signInWithPassword,
  signInWithRecoveryCode,
  signOut,
  type Proof,
} from '../../../accounts/sign-in/sign-in.ts'
import { signInByLink } from '../../../accounts/sign-in/setup.ts'
import { signOutByConnection } from '../../../accounts/single-sign-on/sign-in-by-connection.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { nowhere } from '../schemas.ts'
import { describeSession, sessionSchema } from './describe-session.ts'
import {
  bindingOf,
  credential,
  email,
  examplePassword,
  passkeyUse,
  requireSession,
  show,
  signedIn,
  signInParts,
  token,
} from './schemas.ts'
import { holdRefusals } from './hold-refusals.ts'

const path = '/api/v1/session'
const code = z.string().regex(/^\d{6}$/, 'A code has six digits.')
const recoveryCode = z.string().min(16).max(40)
const secondFactor = z
  .strictObject({ code: code.optional(), recoveryCode: recoveryCode.optional() })
  .refine(
    ({ code: totp, recoveryCode: recovery }) => (totp === undefined) !== (recovery === undefined),
    'Give one of the two.',
  )

const proof = z
  .strictObject({
    response: passkeyUse.optional(),
    password: z.string().max(1_000).optional(),
    code: code.optional(),
    recoveryCode: recoveryCode.optional(),
  })
  .refine(({ response, password }) => (response === undefined) !== (password === undefined), 'Give one of the two.')

const publicFacts = { permission: 'public', scope: 'installation', params: nowhere, hasOwnTransactions: true } as const

export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'self',
    scope: 'installation',
    summary: 'Read who is signed in, and what they may do',
    params: nowhere,
    answer: sessionSchema,
    work: ({ parts }) => describeSession(parts, requireSession(parts)),
  }),
  defineRoute({
    method: 'DELETE',
    path,
    permission: 'self',
    scope: 'installation',
    isForVouched: true,
    summary: 'Sign out',
    params: nowhere,
    answer: 'nothing',
    async work({ parts }) {
      await signOut(signInParts(parts), requireSession(parts))
      parts.browser.close()
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/sign-out`,
    permission: 'self',
    scope: 'installation',
    isForVouched: true,
    // The provider may be asked where it signs people out, after the session here is over.
    hasOwnTransactions: true,
    summary: 'Sign out, and learn where to be signed out at one’s provider too',
    params: nowhere,
    answer: z.strictObject({
      location: z.string().nullable().describe('The provider’s page to go to; null where there is none.'),
    }),
    async work({ parts }) {
      const sso = { ...signInParts(parts), sso: parts.management.sso }
      const location = await signOutByConnection(sso, requireSession(parts))
      parts.browser.close()
      return { location }
    },
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/passkey`,
    summary: 'Sign in with a passkey',
    body: z.strictObject({ response: passkeyUse }),
    example: { response: exampleUse() },
    answer: signedIn,
    work: ({ parts, body: { response } }) =>
      holdRefusals(parts, async () => {
        const { browser } = parts
        const asked = { purpose: 'sign-in', browser: browser.flow, userId: null } as const
        const used = { response, party: browser.party, asked }
        return show(parts, await signInWithPasskey(signInParts(parts), used, browser.whereabouts))
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/password`,
    summary: 'Sign in with a password; where there is an authenticator app, its code is asked for next',
    body: z.strictObject({ email, password: z.string().max(1_000) }),
    example: { email: 'ann@example.org', password: examplePassword.password },
    answer: signedIn,
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        return show(parts, await signInWithPassword(signInParts(parts), body, parts.browser.whereabouts))
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/totp`,
    summary: 'Finish signing in with the code of an authenticator app, or a recovery code in its place',
    body: secondFactor,
    example: { code: '123456' },
    answer: signedIn,
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        return show(parts, await completeSignIn(signInParts(parts), parts.browser.pending ?? '', toFactor(body)))
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/recovery`,
    summary: 'Sign in with a recovery code, for whoever has no password and has lost their passkeys',
    body: z.strictObject({ email, recoveryCode }),
    example: { email: 'ann@example.org', recoveryCode: '0000-0000-0000-0000' },
    answer: signedIn,
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        const given = { email: body.email, code: body.recoveryCode }
        return show(parts, await signInWithRecoveryCode(signInParts(parts), given, parts.browser.whereabouts))
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/link`,
    summary: 'Make a passkey or a password with the one-time link of `odyssey owners link`, and sign in',
    body: z.strictObject({ token, credential }),
    example: { token: 'x', credential: examplePassword },
    answer: signedIn,
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        const { browser } = parts
        const { userId } = await readLink(signInParts(parts), body.token, 'recovery')
        const asked = { purpose: `link ${hashToken(body.token)}`, userId } as const
        const use = { ...body, ...bindingOf(parts, body.credential, asked), browser: browser.whereabouts }
        return show(parts, await signInByLink(signInParts(parts), use))
      }),
  }),
  defineRoute({
    ...publicFacts,
    method: 'POST',
    path: `${path}/proof`,
    permission: 'self',
    isForVouched: true,
    summary: 'Show again who one is, for changes that ask for it; the session gets another cookie',
    body: proof,
    example: { password: examplePassword.password },
    answer: signedIn,
    work: ({ parts, body }) =>
      holdRefusals(parts, async () => {
        const session = requireSession(parts)
        const renewed = await proveAgain(signInParts(parts), session, toProof(parts, body))
        return show(parts, { token: renewed, state: 'open', device: null })
      }),
  }),
]

function toFactor({ code: totp, recoveryCode: recovery }: z.output<typeof secondFactor>) {
  if (totp !== undefined) return { kind: 'totp', code: totp } as const
  return { kind: 'recovery-code', code: recovery ?? '' } as const
}

function toProof(parts: RouteParts, given: z.output<typeof proof>): Proof {
  if (given.response !== undefined) {
    const { browser } = parts
    const asked = { purpose: 'proof', browser: browser.flow, userId: requireSession(parts).user.id } as const
    return { kind: 'passkey', used: { response: given.response, party: browser.party, asked } }
  }
  const { password = '', ...factor } = given
  const hasFactor = factor.code !== undefined || factor.recoveryCode !== undefined
  return { kind: 'password', password, factor: hasFactor ? toFactor(factor) : null }
}

/** The shape of what a browser gives for a passkey that was used. */
export function exampleUse() {
  const response = { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' }
  return { id: 'e30x', rawId: 'e30x', type: 'public-key', response } as const
}
