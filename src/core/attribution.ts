/** Whom a request is for, as its client says: below the key, which may serve many. */
export type Attribution = {
  readonly endUser: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** Whether end users are kept as clients name them, as hashes, or not at all. */
export const endUserRules = ['plain', 'hashed', 'off'] as const

/** What an organization lets be kept of that. */
export type AttributionRules = {
  readonly endUsers: (typeof endUserRules)[number]
  /** The keys of metadata that are kept as tags. */
  readonly tagKeys: readonly string[]
}
