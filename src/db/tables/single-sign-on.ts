import type { Generated } from 'kysely'
import type { AttemptId, ConnectionId, DomainId, MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import type { Role } from '../../core/role.ts'

/** A draft lets nobody in; it can be tried by those who may change it. */
export const connectionStates = ['draft', 'on', 'off'] as const
export type ConnectionState = (typeof connectionStates)[number]

/** An identity provider by which members of one organization sign in. */
export type ConnectionTable = {
  readonly id: ConnectionId
  readonly organization_id: OrganizationId
  readonly kind: 'oidc' | 'saml'
  name: string
  state: ConnectionState
  /** Never changes: whose identities these are hangs on it. */
  readonly issuer: string
  /** This and what follows as far as the tenant is empty where SAML is spoken, and the secret has the keys. */
  client_id: string
  secret_sealed: string
  /** How the secret is shown to the provider. */
  token_auth: 'client_secret_basic' | 'client_secret_post'
  signing_algorithm: string
  scopes: string
  /** What the claim `tid` or `hd` has to say; null where one issuer is one tenant. */
  tenant: string | null
  groups_claim: string
  /** Whether somebody unknown becomes a member by signing in, as 0 or 1. */
  makes_members: number
  default_role: Role
  /** Since when members come in by this connection alone. */
  enforced_at: number | null
  /** The owner who comes in without the connection all the same. */
  break_glass_id: MemberId | null
  /** Who has last tried it with success, and when. */
  tested_by: UserId | null
  tested_at: number | null
  readonly created_at: number
  /** Whether signing out here signs out at the provider too, as 0 or 1. */
  signs_out: Generated<number>
  /** From what those who answer for whom the provider means could give roles to others. */
  answerer_role: Generated<Role>
  /** The part of that role that they had, as JSON; null where they had the whole. */
  answerer_custom: string | null
  /** The same of those who have said what the groups of the provider are here, and how they are read. */
  mapper_role: Generated<Role>
  mapper_custom: string | null
}

export type GroupMappingTable = {
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  readonly group_name: string
  /** The first one that somebody is in gives the role. */
  readonly position: number
  readonly role: Role
  /** A JSON list. */
  readonly project_ids: string
}

/** Whom a provider means by a subject. */
export type IdentityTable = {
  readonly connection_id: ConnectionId
  readonly subject: string
  readonly organization_id: OrganizationId
  user_id: UserId
  readonly created_at: number
  last_seen_at: number
  /** The groups that the provider has last named, as a JSON list; null where it has named none. */
  named_groups: string | null
  /** Whether they have said themselves, signed in in another way, that it is theirs, as 0 or 1. */
  is_linked: Generated<number>
}

/** A way to the provider that was begun and has not come back yet. */
export type SsoFlowTable = {
  readonly state_hash: string
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  /** A hash of the cookie that the browser has which began. */
  readonly browser_hash: string
  /** The nonce and the verifier of the code, encrypted. */
  readonly sealed: string
  /** Where the browser goes on to, as a path. */
  readonly next: string
  /** Who links their identity; null for signing in. */
  readonly user_id: UserId | null
  /** Whether the provider has to ask anew who somebody is, as 0 or 1. */
  readonly is_proof: number
  readonly ends_at: number
  used_at: number | null
}

/** A request to sign somebody out, which a provider has yet to answer. */
export type SsoSignOutTable = {
  readonly request_hash: string
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  readonly ends_at: number
  used_at: number | null
}

/** Messages of a provider that count once, over all gateways. */
export type UsedMessageTable = {
  readonly connection_id: ConnectionId
  readonly message_id: string
  readonly ends_at: number
}

export type LoginAttemptTable = {
  readonly id: AttemptId
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  readonly at: number
  readonly outcome: 'signed-in' | 'linked' | 'refused'
  readonly code: string | null
  readonly user_id: UserId | null
  readonly request_id: string
}

export type DomainTable = {
  readonly id: DomainId
  readonly organization_id: OrganizationId
  /** In small letters. */
  readonly name: string
  /** What the domain's own servers have to say. */
  readonly token: string
  verified_at: number | null
  readonly created_at: number
  /** When the record is looked for again; null for one that is not verified, or stands on the operator's word. */
  look_at: number | null
  /** When the domain's servers last said what there is. */
  checked_at: number | null
  /** Since when they have said that there is no record; kept when the domain counts for nothing because of that. */
  missing_since: number | null
}
