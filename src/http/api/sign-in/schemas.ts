import { z } from 'zod'
import type { NewCredential } from '../../../accounts/sign-in/credentials.ts'
import type { SignInParts } from '../../../accounts/sign-in/parts.ts'
import type { ChallengeFor } from '../../../accounts/sign-in/passkeys.ts'
import { authenticationResponse, registrationResponse } from '../../../accounts/sign-in/webauthn.ts'
import type { Session } from '../../../accounts/sign-in/sessions.ts'
import { signInMethods } from '../../../db/tables/identity.ts'
import type { SignedIn } from '../../../accounts/sign-in/sign-in.ts'
import { ApiError } from '../../../core/error.ts'
import type { RouteParts } from '../route.ts'

/** A one-time link's own part, which stands behind `#` in its address. */
export const token = z.string().min(1).max(100)
export const email = z.string().min(3).max(254)
export const method = z.enum(signInMethods)
const passkeyName = z.string().min(1).max(200).default('Passkey')

/** What somebody will sign in with. */
export const credential = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('passkey'), name: passkeyName, response: registrationResponse }),
    z.strictObject({ kind: z.literal('password'), password: z.string().max(1_000) }),
  ])
  .meta({ id: 'NewCredential' })

export const passkeyUse = authenticationResponse
export const newPasskey = z.strictObject({ name: passkeyName, response: registrationResponse })

/** `totp` waits for the code of the authenticator app. */
export const signedIn = z.strictObject({ state: z.enum(['signed-in', 'totp']) }).meta({ id: 'SignedIn' })

export const examplePassword = { kind: 'password', password: 'correct horse battery staple' } as const

export function signInParts({
  accounts,
  management,
  browser,
}: Pick<RouteParts, 'accounts' | 'management' | 'browser'>): SignInParts {
  return { ...accounts, signIn: management.signIn, device: browser.device }
}

/** Hands a browser the session that was begun in it. */
export function show({ browser }: Pick<RouteParts, 'browser'>, { token: opening, state, device }: SignedIn) {
  browser.open(opening)
  if (device !== null) browser.keepDevice(device)
  return { state: state === 'open' ? ('signed-in' as const) : ('totp' as const) }
}

/** What a credential is bound to; a password to nothing, so that no address has to be one for passkeys. */
export function bindingOf(
  { browser }: Pick<RouteParts, 'browser'>,
  { kind }: Pick<NewCredential, 'kind'>,
  asked: Omit<ChallengeFor, 'browser'>,
) {
  if (kind === 'passkey') return { party: browser.party, asked: { ...asked, browser: browser.flow } }
  return { party: { origin: browser.origin, rpId: '' }, asked: { ...asked, browser: '' } }
}

/** Throws where nobody is signed in; routes of `self` are not reached then. */
export function requireSession({ session }: Pick<RouteParts, 'session'>): Session {
  if (session !== null) return session
  throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in.')
}
