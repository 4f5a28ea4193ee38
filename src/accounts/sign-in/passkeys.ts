import type { Transaction } from 'kysely'
import { randomBytes } from 'node:crypto'
import { invalidRequest } from '../../core/error.ts'
import type { UserId } from '../../core/ids.ts'
import type { Tables } from '../../db/tables.ts'
import { checkName } from '../check-name.ts'
import { hashToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'
import { refuseSignIn } from './refusals.ts'
import {
  algorithms,
  challengeOf,
  readAuthentication,
  readRegistration,
  type AuthenticationResponse,
  type RegistrationResponse,
  type RelyingParty,
} from './webauthn.ts'

/** For what a challenge may be used; a link's hash stands behind it where one is needed. */
export type ChallengePurpose =
  | 'sign-in'
  | 'proof'
  | 'add'
  | `setup ${string}`
  | `invitation ${string}`
  | `link ${string}`

export type ChallengeFor = {
  readonly purpose: ChallengePurpose
  /** The token of the browser that asks: another one's answer is refused. */
  readonly browser: string
  /** Null where it is not known yet who asks. */
  readonly userId: UserId | null
}

const challengeMs = 300_000

/** Makes something new to sign, which counts once, in this browser alone. */
async function createChallenge(parts: SignInParts, { purpose, browser, userId }: ChallengeFor): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  const now = parts.clock.nowMs()
  await parts.db.deleteFrom('passkey_challenges').where('ends_at', '<=', now).execute()
  const row = { hash: hashToken(challenge), purpose, user_id: userId, browser_hash: hashToken(browser) }
  await parts.db
    .insertInto('passkey_challenges')
    .values({ ...row, ends_at: now + challengeMs })
    .execute()
  return challenge
}

/** Throws for a challenge that was not asked for by this browser for this, or has been used. */
async function useChallenge(
  { db, clock }: Pick<SignInParts, 'db' | 'clock'>,
  clientDataJson: Buffer,
  { purpose, browser, userId }: ChallengeFor,
): Promise<void> {
  const challenge = challengeOf(clientDataJson)
  const used =
    challenge === null
      ? undefined
      : await db
          .deleteFrom('passkey_challenges')
          .where('hash', '=', hashToken(challenge))
          .returning(['purpose', 'browser_hash', 'user_id', 'ends_at'])
          .executeTakeFirst()
  const isRight =
    used !== undefined &&
    used.purpose === purpose &&
    used.browser_hash === hashToken(browser) &&
    used.user_id === userId &&
    used.ends_at > clock.nowMs()
  if (!isRight) throw refuseSignIn()
}

/** What a browser is asked in order to use a passkey; without a list of them it offers those it has. */
export async function askForPasskey(parts: SignInParts, { rpId }: RelyingParty, asked: ChallengeFor) {
  const challenge = await createChallenge(parts, asked)
  return { challenge, rpId, timeout: challengeMs, userVerification: 'required' as const, allowCredentials: [] }
}

export type PasskeyOwner = { readonly name: string; readonly email: string }

type Offering = {
  readonly owner: PasskeyOwner
  /** Whether the other passkeys of the person end when this one is kept. */
  readonly endsOthers?: boolean
}

/** What a browser is asked in order to make a passkey. */
export async function offerPasskey(
  parts: SignInParts,
  { rpId }: RelyingParty,
  { owner, endsOthers = false, ...asked }: ChallengeFor & Offering,
) {
  const challenge = await createChallenge(parts, asked)
  const own =
    // What ends with the new one does not keep an authenticator from making it.
    asked.userId === null || endsOthers
      ? []
      : await parts.db
          .selectFrom('passkeys')
          .select(['id', 'transports'])
          .where('user_id', '=', asked.userId)
          .where('rp_id', '=', rpId)
          .execute()
  // A passkey takes the place of another one of the same user on an authenticator, so each has a handle of its own.
  const id = randomBytes(32).toString('base64url')
  return {
    challenge,
    rp: { id: rpId, name: 'Odyssey' },
    user: { id, name: owner.email, displayName: owner.name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: challengeMs,
    attestation: 'none' as const,
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true,
      userVerification: 'required' as const,
    },
    excludeCredentials: own.map((row) => {
      return { type: 'public-key' as const, id: row.id, transports: JSON.parse(row.transports) as string[] }
    }),
  }
}

export type NewPasskey = {
  readonly userId: UserId
  readonly name: string
  readonly response: RegistrationResponse
  readonly party: RelyingParty
  readonly asked: ChallengeFor
}

/** Keeps a new passkey of a person. */
export async function addPasskey(
  parts: Pick<SignInParts, 'clock'>,
  transaction: Transaction<Tables>,
  { userId, name, response, party, asked }: NewPasskey,
): Promise<string> {
  await useChallenge({ db: transaction, clock: parts.clock }, response.response.clientDataJSON, asked)
  const made = readRegistration(response, party)
  if (made === null) throw invalidRequest(null, null, 'This passkey cannot be used here.')
  const { id, publicKey: public_key, counter, isBackedUp, transports } = made
  const row = { id, user_id: userId, rp_id: party.rpId, public_key, counter, transports: JSON.stringify(transports) }
  const added = await transaction
    .insertInto('passkeys')
    .values({
      ...row,
      is_backed_up: isBackedUp ? 1 : 0,
      name: checkName(name),
      created_at: parts.clock.nowMs(),
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added === undefined) throw invalidRequest(null, null, 'This passkey is known already.')
  return id
}

export type UsedPasskey = {
  readonly response: AuthenticationResponse
  readonly party: RelyingParty
  readonly asked: ChallengeFor
}

/** Finds whose passkey has signed. Throws where it is nobody's, or anything of it is not right. */
export async function checkPasskey(
  { db, clock }: Pick<SignInParts, 'db' | 'clock'>,
  { response, party, asked }: UsedPasskey,
): Promise<UserId> {
  await useChallenge({ db, clock }, response.response.clientDataJSON, asked)
  const row = await db
    .selectFrom('passkeys')
    .innerJoin('users', 'users.id', 'passkeys.user_id')
    .select(['passkeys.id', 'passkeys.user_id', 'passkeys.rp_id', 'passkeys.public_key', 'passkeys.counter'])
    .where('passkeys.id', '=', response.id)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined || (asked.userId !== null && row.user_id !== asked.userId)) throw refuseSignIn()
  const known = { publicKey: row.public_key, counter: row.counter, rpId: row.rp_id }
  const read = readAuthentication(response, known, party)
  if (read === null) throw refuseSignIn(row.user_id)
  // Two answers with the same counter at once: one of them comes from a copy.
  const updated = await db
    .updateTable('passkeys')
    .set({ counter: read.counter, is_backed_up: read.isBackedUp ? 1 : 0, last_used_at: clock.nowMs() })
    .where('id', '=', row.id)
    .where('counter', '=', row.counter)
    .returning('id')
    .executeTakeFirst()
  if (updated === undefined) throw refuseSignIn(row.user_id)
  return row.user_id
}
