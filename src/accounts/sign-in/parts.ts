import type { AccountsParts } from '../parts.ts'

export type SignInSettings = {
  /** Whether passwords are taken, beside passkeys. */
  readonly passwords: 'optional' | 'off'
  /** A session ends when nothing was asked in it for this long. */
  readonly idleMs: number
  /** A session ends after this long in any case. */
  readonly sessionMsMax: number
  /** One session more than this ends the person's oldest. */
  readonly sessionsPerUserMax: number
  /** How long a proof of who somebody is counts as fresh. */
  readonly recentMs: number
  /** Encrypts the secrets of authenticator apps. */
  readonly sealKey: Uint8Array
}

/** What signing in stands on. */
export type SignInParts = AccountsParts & {
  readonly signIn: SignInSettings
  /** What the browser that asks keeps of who has signed in in it. */
  readonly device?: string | null
}
