import type { ConnectionId, OrganizationId, UserId } from '../../core/ids.ts'

export const providerInitiated = ['off', 'bounce'] as const

/** What a connection to a provider that speaks SAML has beside what every connection has. */
export type SamlConnectionTable = {
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  /** Where the provider’s description is read anew; null where it was handed over. */
  metadata_url: string | null
  sign_in_url: string
  sign_out_url: string | null
  name_id_format: 'persistent' | 'email' | 'unspecified'
  /** The attributes with the e-mail address and the name; null for the usual ones. */
  email_attribute: string | null
  name_attribute: string | null
  /** Whether nobody can have an address of another there, as 0 or 1. */
  verifies_emails: number
  /** Whether the provider asks at each sign-in who somebody is, as 0 or 1. */
  forces_sign_in: number
  /** The kind of sign-in that is demanded of the provider; null for any. */
  authn_context: string | null
  /** What becomes of a sign-in that the provider has begun. */
  provider_initiated: (typeof providerInitiated)[number]
  /** When the description was last read, and since when it cannot be. */
  read_at: number
  failed_at: number | null
  failure: string | null
}

/** Certificates that a provider’s description has, or has had. */
export type ConnectionCertificateTable = {
  readonly connection_id: ConnectionId
  readonly sha256: string
  readonly organization_id: OrganizationId
  readonly certificate: string
  readonly not_after: number
  readonly seen_at: number
  gone_at: number | null
}

/** An answer that was found good and waits for the browser that began. */
export type SsoResultTable = {
  readonly handle_hash: string
  readonly connection_id: ConnectionId
  readonly organization_id: OrganizationId
  readonly browser_hash: string
  /** What the provider says, encrypted. */
  readonly sealed: string
  readonly next: string
  readonly user_id: UserId | null
  readonly is_proof: number
  readonly ends_at: number
  used_at: number | null
}
