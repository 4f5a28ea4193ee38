import type { Generated } from 'kysely'
import type { ConnectionId, InvitationId, OrganizationId, SessionId, UserId } from '../../core/ids.ts'
import type { Role } from '../../core/role.ts'

/** A person of the installation; a member is that person in an organization. */
export type UserTable = {
  readonly id: UserId
  name: string
  /** What the person may do to the installation as a whole; null is nothing. */
  installation_role: Role | null
  /** A JSON object. */
  preferences: Generated<string>
  readonly created_at: number
  disabled_at: number | null
}

export type UserEmailTable = {
  /** In small letters. */
  readonly email: string
  readonly user_id: UserId
  is_verified: number
}

export type PasswordTable = {
  readonly user_id: UserId
  /** The hash with its parameters, in the notation of the password hashing competition. */
  phc: string
  changed_at: number
}

export type PasskeyTable = {
  /** The credential's id, as base64url. */
  readonly id: string
  readonly user_id: UserId
  /** The host name that the passkey was made for. */
  readonly rp_id: string
  /** SubjectPublicKeyInfo, as base64url. */
  readonly public_key: string
  counter: number
  /** A JSON list. */
  readonly transports: string
  is_backed_up: number
  name: string
  readonly created_at: number
  last_used_at: number | null
}

export type TotpTable = {
  readonly user_id: UserId
  sealed: string
  /** The step whose code was used last: none counts twice. */
  last_step: number
  /** Null until a code has shown that the person's device has the secret. */
  confirmed_at: number | null
}

export type RecoveryCodeTable = { readonly hash: string; readonly user_id: UserId; used_at: number | null }

/** How often signing in to an account failed, as the time at which it would be even with its pace. */
export type SignInFailureTable = {
  /** A hash of the e-mail address, also of one that is nobody's. */
  readonly account: string
  even_at: number
}

/** The ways in which people show who they are. */
export const signInMethods = ['passkey', 'password', 'password+totp', 'recovery-code', 'sso'] as const
export type SignInMethod = (typeof signInMethods)[number]

export type SessionTable = {
  readonly id: SessionId
  token_hash: string
  readonly user_id: UserId
  /** One that waits for a second factor opens nothing. */
  state: 'totp' | 'open'
  /** The site at which it began, as scheme, host and port. */
  readonly origin: string
  method: SignInMethod
  proof_method: SignInMethod
  proof_at: number
  readonly created_at: number
  last_seen_at: number
  readonly ends_at: number
  readonly address: string
  readonly agent: string
  /** The connection by which it began, whom the provider meant, and how the provider calls its own session. */
  readonly connection_id: ConnectionId | null
  readonly sso_subject: string | null
  readonly sso_session: string | null
  /** What the provider has to be told to sign the person out, encrypted; null where there is nothing. */
  readonly sso_hint: string | null
}

export type PasskeyChallengeTable = {
  readonly hash: string
  readonly purpose: string
  readonly user_id: UserId | null
  /** A hash of the cookie that the browser has which asked for it. */
  readonly browser_hash: string
  readonly ends_at: number
}

export type OneTimeLinkTable = {
  readonly hash: string
  /** A replacement is a recovery that ends every other way in. */
  readonly purpose: 'setup' | 'recovery' | 'replacement'
  readonly user_id: UserId | null
  readonly created_at: number
  readonly ends_at: number
  used_at: number | null
}

export type InvitationTable = {
  readonly id: InvitationId
  readonly organization_id: OrganizationId
  readonly email: string
  /** What its person becomes; of an address that is a member's, the role that the member had when the link was made. */
  role: Role
  /** A JSON list. */
  readonly project_ids: string
  link_hash: string
  /** As the audit names actors: whoever made its link. */
  created_by: string
  readonly created_at: number
  ends_at: number
  accepted_at: number | null
  withdrawn_at: number | null
  /** When its link was last handed to the mail relay; null where it never was. */
  mailed_at: number | null
}
