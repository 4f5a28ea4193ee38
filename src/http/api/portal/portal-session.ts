import { readKeyAccess, type KeyAccess } from '../../../accounts/access/key-access.ts'
import { hashShownKey } from '../../../accounts/key-format.ts'
import { ApiError } from '../../../core/error.ts'
import { seal, unseal } from '../../../lib/seal.ts'
import type { RouteParts } from '../route.ts'

/** How long whoever has shown a key may look at what it does. */
export const portalMsMax = 30 * 60_000

/** Where a sealed text of the portal is kept, so that no other sealed text is taken for one. */
const place = 'portal session'

type Held = { readonly hash: string; readonly endsAtMs: number }

export type PortalSession = { readonly access: KeyAccess; readonly endsAtMs: number }

/**
 * Lets the owner of a key look at that key alone.
 *
 * The browser keeps a sealed note of which key it is, that nobody else can read or make. The key is looked up again
 * with each request, so that one which is revoked shows nothing any more.
 */
export async function openPortal(parts: RouteParts, key: string): Promise<PortalSession> {
  const { accounts, browser, attempts } = parts
  const hash = hashShownKey(accounts.hashSecret, key)
  const access = hash === null ? null : await findAccess(parts, hash)
  if (access === null) {
    await attempts.hold(browser.address, { shown: 'key of the portal' })
    throw refuse('The key is not valid.')
  }
  const endsAtMs = accounts.clock.nowMs() + portalMsMax
  const held: Held = { hash: access.hash, endsAtMs }
  const sealed = seal(parts.management.signIn.sealKey, place, JSON.stringify(held))
  browser.openPortal(Buffer.from(sealed, 'base64').toString('base64url'), portalMsMax / 1_000)
  return { access, endsAtMs }
}

/** Whose portal the browser is in. Throws where it is in none. */
export async function requirePortal(parts: RouteParts): Promise<PortalSession> {
  const text = parts.browser.portal
  const held = text === null ? null : read(parts, text)
  if (held === null || held.endsAtMs <= parts.accounts.clock.nowMs()) throw refuse('Show your key first.')
  const access = await findAccess(parts, held.hash)
  if (access === null) throw refuse('The key is not valid any more.')
  return { access, endsAtMs: held.endsAtMs }
}

function read({ management }: RouteParts, text: string): Held | null {
  try {
    const sealed = Buffer.from(text, 'base64url').toString('base64')
    return JSON.parse(unseal(management.signIn.sealKey, place, sealed)) as Held
  } catch {
    return null
  }
}

/** Null for a key that opens nothing: it is not there, revoked, disabled, over, or may not be used from this address. */
async function findAccess({ accounts, browser }: RouteParts, hash: string): Promise<KeyAccess | null> {
  const [access = null] = await readKeyAccess(accounts.db, [hash])
  if (access === null || access.closed !== null) return null
  const isOver = access.expiresAtMs !== null && access.expiresAtMs <= accounts.clock.nowMs()
  return isOver || access.addresses?.includes(browser.address) === false ? null : access
}

function refuse(message: string): ApiError {
  return new ApiError({ code: 'unauthenticated', key: null }, message)
}
