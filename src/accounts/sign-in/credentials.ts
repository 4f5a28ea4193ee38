import type { Transaction } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { UserId } from '../../core/ids.ts'
import type { SignInMethod } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import type { SignInParts } from './parts.ts'
import { addPasskey, type ChallengeFor } from './passkeys.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import type { RegistrationResponse, RelyingParty } from './webauthn.ts'

/** What a person will sign in with. */
export type NewCredential =
  | { readonly kind: 'passkey'; readonly name: string; readonly response: RegistrationResponse }
  | { readonly kind: 'password'; readonly password: string }

/** A credential that can be kept: a password is hashed before a transaction begins, as that takes a while. */
export type PreparedCredential =
  | Extract<NewCredential, { readonly kind: 'passkey' }>
  | { readonly kind: 'hashed'; readonly phc: string }

export async function prepareCredential(
  { signIn }: Pick<SignInParts, 'signIn'>,
  credential: NewCredential,
): Promise<PreparedCredential> {
  if (credential.kind === 'passkey') return credential
  if (signIn.passwords === 'off') throw invalidRequest(['credential'], 'value', 'Passwords are switched off here.')
  return { kind: 'hashed', phc: await hashPassword(checkPassword(credential.password)) }
}

export type CredentialOf = {
  readonly userId: UserId
  readonly party: RelyingParty
  readonly asked: ChallengeFor
}

/** Keeps what a person will sign in with, and returns how they have done so just now. */
export async function keepCredential(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  credential: PreparedCredential,
  { userId, party, asked }: CredentialOf,
): Promise<SignInMethod> {
  if (credential.kind === 'passkey') {
    const { name, response } = credential
    await addPasskey(parts, transaction, { userId, name, response, party, asked })
    return 'passkey'
  }
  const changed_at = parts.clock.nowMs()
  await transaction
    .insertInto('passwords')
    .values({ user_id: userId, phc: credential.phc, changed_at })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ phc: credential.phc, changed_at }))
    .execute()
  return 'password'
}
