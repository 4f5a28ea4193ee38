import { z } from 'zod'
import { SsoFault } from '../fault.ts'
import { loadOidcLibraries } from './libraries.ts'
import type { Provider } from './providers.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'

const claims = z.object({
  jti: z.string().min(1).max(255),
  iat: z.number(),
  exp: z.number(),
  sub: z.string().min(1).max(255).optional(),
  sid: z.string().min(1).max(255).optional(),
  events: z.object({ [event]: z.record(z.string(), z.unknown()) }),
  nonce: z.undefined().optional(),
})

export type LogoutToken = {
  readonly id: string
  readonly endsAtMs: number
  readonly subject: string | null
  readonly session: string | null
}

/** A provider sends it as it makes it. */
const ageSecondsMax = 120

/** Reads a provider's word that somebody's session there is over (OpenID Connect Back-Channel Logout 1.0). */
export async function readLogoutToken(
  { settings, findKey }: Provider,
  token: string,
  { nowMs, skewSeconds }: { readonly nowMs: number; readonly skewSeconds: number },
): Promise<LogoutToken> {
  const { tokens } = await loadOidcLibraries()
  try {
    const { payload, protectedHeader } = await tokens.jwtVerify(token, findKey, {
      issuer: settings.issuer,
      audience: settings.clientId,
      algorithms: [settings.signingAlgorithm],
      currentDate: new Date(nowMs),
      clockTolerance: skewSeconds,
      maxTokenAge: ageSecondsMax,
      requiredClaims: ['exp', 'iat', 'jti'],
    })
    // Some providers name no type of their own here; what makes it one of these is its event.
    const type = protectedHeader.typ?.toLowerCase() ?? 'jwt'
    if (type !== 'logout+jwt' && type !== 'jwt') throw new Error('It is a token of another type.')
    const { jti, exp, sub = null, sid = null } = claims.parse(payload)
    if (sub === null && sid === null) throw new Error('It names nobody.')
    return { id: jti, endsAtMs: (exp + skewSeconds) * 1_000, subject: sub, session: sid }
  } catch (cause) {
    throw new SsoFault('token-invalid', { cause })
  }
}
