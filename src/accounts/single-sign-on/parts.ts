import type { SignInParts } from '../sign-in/parts.ts'
import type { GuardedFetch } from './oidc/guarded-fetch.ts'
import type { Providers } from './oidc/providers.ts'

/** How long what providers that speak SAML say is good for, and how their descriptions are read. */
export type SamlTerms = {
  readonly fetch: GuardedFetch
  readonly refreshMs: number
  readonly skewSeconds: number
  /** How old an answer may be, whatever it says itself. */
  readonly answerMsMax: number
}

/** The texts that a name has in the domain name system; null where nobody can say that now. */
export type ResolveTexts = (name: string) => Promise<readonly string[] | null>

export type SingleSignOn = {
  readonly providers: Providers
  readonly saml: SamlTerms
  /** Where people sign in, as the beginning of addresses. */
  siteUrl(): string
  readonly resolveTexts: ResolveTexts
}

export type SsoParts = SignInParts & { readonly sso: SingleSignOn }
