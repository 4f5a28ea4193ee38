import { ApiError } from '../../core/error.ts'
import { isDevice } from '../../accounts/sign-in/known-devices.ts'
import { createToken, isToken } from '../../accounts/sign-in/one-time.ts'
import { findSession, type Browser, type Session } from '../../accounts/sign-in/sessions.ts'
import type { RelyingParty } from '../../accounts/sign-in/webauthn.ts'
import type { RequestHead } from '../middleware/authenticate.ts'
import type { ManagementParts } from './parts.ts'

/**
 * The cookies of a browser. At an address with HTTPS their names begin with `__Host-`, by which the browser takes them
 * from no other host and sends them over no open line; plain HTTP, of this machine, has no such names everywhere.
 */
const cookieNames = {
  session: 'odyssey',
  flow: 'odyssey-flow',
  portal: 'odyssey-portal',
  sso: 'odyssey-sso',
  device: 'odyssey-device',
} as const
const securePrefix = '__Host-'
type CookieKind = keyof typeof cookieNames

function nameOf(kind: CookieKind, isSecure: boolean): string {
  return `${isSecure ? securePrefix : ''}${cookieNames[kind]}`
}

/** What a browser has sent under one name, as often as it is there. */
function valuesOf(cookie: string, name: string): readonly string[] {
  const begin = `${name}=`
  return cookie.split(/; */).flatMap((part) => (part.startsWith(begin) ? [part.slice(begin.length)] : []))
}

/** Whether a browser that sent these cookies can have signed in: it has the one of a session, which may have ended. */
export function mayHaveSession(cookie: string): boolean {
  return [true, false].some((isSecure) => valuesOf(cookie, nameOf('session', isSecure)).length > 0)
}

const flowSeconds = 300
/** The way to a provider and back may take this long. */
const ssoSeconds = 600
/** Browsers keep a cookie for no longer than 400 days. */
const deviceSeconds = 400 * 86_400

/** Whether a value may be one that was given to a browser. */
const shapes: Readonly<Record<CookieKind, (value: string) => boolean>> = {
  session: isToken,
  flow: isToken,
  sso: isToken,
  portal: isSealed,
  device: isDevice,
}

/** What a browser has sent, and what it is sent back beside the answer. */
export class BrowserExchange {
  readonly #head: RequestHead
  readonly #publicUrl: URL | null
  readonly #cookies: string[] = []

  readonly #fixedOrigin: string | null

  /** A page that is gone to says no origin of its own: then it is the one given, which browsers are told of. */
  constructor(head: RequestHead, { publicUrl }: Pick<ManagementParts, 'publicUrl'>, fixedOrigin: string | null = null) {
    this.#head = head
    this.#fixedOrigin = fixedOrigin
    this.#publicUrl = publicUrl === null ? null : new URL(publicUrl)
  }

  /** The lines of `set-cookie`. */
  get cookies(): readonly string[] {
    return this.#cookies
  }

  /** Where people sign in. Throws at an address that is not the configured one, nor this machine's own. */
  get origin(): string {
    if (this.#fixedOrigin !== null) return this.#fixedOrigin
    const { origin } = this.#head.headers
    if (origin !== undefined && this.#isOwn(origin)) return origin
    const message = 'Nobody signs in at this address: set server.publicUrl to it, or use http://localhost.'
    throw new ApiError({ code: 'permission-denied' }, message)
  }

  /** To which host name passkeys are bound here. Throws where browsers have none. */
  get party(): RelyingParty {
    const { origin } = this
    const { hostname, protocol } = new URL(origin)
    if (protocol === 'https:' || hostname === 'localhost') return { origin, rpId: hostname }
    const message = 'Browsers have passkeys at addresses with HTTPS and at http://localhost only.'
    throw new ApiError({ code: 'invalid-request', path: null, fault: null }, message)
  }

  get address(): string {
    return this.#head.ip
  }

  get whereabouts(): Browser {
    const { ip, headers } = this.#head
    return { origin: this.origin, address: ip, agent: headers['user-agent'] ?? '' }
  }

  /** The token that only this browser knows, for what begins and ends in it. Throws where it was sent none. */
  get flow(): string {
    const token = this.#read('flow', this.#isSecure) ?? null
    if (token !== null) return token
    throw new ApiError({ code: 'unauthenticated', key: null }, 'That did not sign you in.')
  }

  /** Sends the browser a token for what it begins. */
  beginFlow(): string {
    const token = this.#read('flow', this.#isSecure) ?? createToken()
    this.#write('flow', token, flowSeconds)
    return token
  }

  /** The token of a browser that has begun a way to a provider; null for one that has not. */
  get sso(): string | null {
    return this.#read('sso', this.#isSecure)
  }

  /** Sends the browser a token by which it is known when the provider sends it back. */
  beginSso(): string {
    const token = this.sso ?? createToken()
    this.#write('sso', token, ssoSeconds)
    return token
  }

  /** The token of a session that waits for a second factor. */
  get pending(): string | null {
    return this.#read('session', this.#isSecure)
  }

  /** Gives the browser a session. It keeps it until it is closed; the service ends it earlier. */
  open(token: string): void {
    this.#write('session', token, null)
  }

  close(): void {
    this.#write('session', '', 0)
  }

  /** What the browser keeps of who has signed in in it; null for one in which nobody has. */
  get device(): string | null {
    return this.#read('device', true) ?? this.#read('device', false)
  }

  keepDevice(device: string): void {
    this.#write('device', device, deviceSeconds)
  }

  /** Gives the browser a sealed note of a key that was shown. */
  openPortal(sealed: string, seconds: number): void {
    this.#write('portal', sealed, seconds)
  }

  closePortal(): void {
    this.#write('portal', '', 0)
  }

  /** The note of a key that was shown; null where there is none, also where a page of another site asks. */
  get portal(): string | null {
    const site = this.#head.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return null
    return this.#read('portal', true) ?? this.#read('portal', false)
  }

  /** Whose session the browser is in; null for none, also where another site asks. */
  async findSession(
    { signIn, accounts }: Pick<ManagementParts, 'signIn' | 'accounts'>,
    { keepsAwake = this.#head.headers['x-odyssey-background'] === undefined } = {},
  ): Promise<Session | null> {
    const { headers } = this.#head
    const site = headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return null
    for (const isSecure of [true, false]) {
      const token = this.#read('session', isSecure)
      if (token === null) continue
      const session = await findSession({ ...accounts, signIn }, token, { keepsAwake })
      // A plain cookie may come from a sibling host, so it opens only what has begun on plain HTTP.
      if (session !== null && session.origin.startsWith('https:') === isSecure) return session
    }
    return null
  }

  /**
   * Throws for a change that a page of another site asks for: the browser sends its cookies then too.
   *
   * Browsers say by `Sec-Fetch-Site` where a request comes from, and older ones by `Origin`.
   */
  requireSameOrigin(): void {
    const { origin, host, 'sec-fetch-site': site } = this.#head.headers
    const isSame =
      site !== undefined
        ? site === 'same-origin'
        : origin !== undefined &&
          this.#isOwn(origin) &&
          (origin === this.#publicUrl?.origin || origin === `http://${host}`)
    if (isSame) return
    throw new ApiError({ code: 'permission-denied' }, 'A page of another site asks for this.')
  }

  get #isSecure(): boolean {
    return this.origin.startsWith('https:')
  }

  #isOwn(origin: string): boolean {
    if (origin === this.#publicUrl?.origin) return true
    return /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.test(origin)
  }

  /** A cookie that is there twice is nobody's: one of the two was put there by somebody else. */
  #read(kind: CookieKind, isSecure: boolean): string | null {
    const [value, ...others] = valuesOf(this.#head.headers.cookie ?? '', nameOf(kind, isSecure))
    const isOne = value !== undefined && others.length === 0
    return isOne && shapes[kind](value) ? value : null
  }

  #write(kind: CookieKind, value: string, seconds: number | null): void {
    const isSecure = this.#isSecure
    const name = nameOf(kind, isSecure)
    const age = seconds === null ? '' : `; Max-Age=${seconds}`
    // Whoever is sent back by a provider comes from another site.
    const site = kind === 'sso' ? 'Lax' : 'Strict'
    this.#cookies.push(`${name}=${value}; Path=/; HttpOnly; SameSite=${site}${age}${isSecure ? '; Secure' : ''}`)
  }
}

/** Whether it may be a note that was sealed here; unsealing it says the rest. */
function isSealed(text: string): boolean {
  return /^[\w-]{40,1000}$/.test(text)
}
