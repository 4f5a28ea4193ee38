import type { SignInParts } from '../sign-in/parts.ts'
import type { Providers } from './oidc/providers.ts'

export type SingleSignOn = {
  readonly providers: Providers
  /** Where people sign in, as the beginning of addresses. */
  siteUrl(): string
  /** The texts that a name has in the domain name system. */
  resolveTexts(name: string): Promise<readonly string[]>
}

export type SsoParts = SignInParts & { readonly sso: SingleSignOn }
