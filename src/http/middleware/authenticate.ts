import type { IncomingHttpHeaders } from 'node:http'
import { findPrincipal, type ApiKeys } from '../../accounts/api-keys.ts'
import { maskKey } from '../../accounts/key-format.ts'
import { ApiError } from '../../core/error.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'

/**
 * Finds out whose key a request carries, in either format's header on every route.
 *
 * Clients may send two, one of them left over from another vendor: the bearer
 * token goes first, and the request is refused only when neither is valid.
 */
export async function authenticate(apiKeys: ApiKeys, headers: IncomingHttpHeaders): Promise<ApiKeyPrincipal> {
  const candidates = credentials(headers)
  for (const key of candidates) {
    const principal = await findPrincipal(apiKeys, key)
    if (principal !== null) return principal
  }
  const [first] = candidates
  throw new ApiError(
    { code: 'unauthenticated', maskedKey: first === undefined ? null : maskKey(first) },
    first === undefined
      ? 'Missing API key: send Authorization: Bearer <key> or x-api-key'
      : 'The API key is not valid.',
  )
}

function credentials(headers: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const apiKey = headers['x-api-key']
  const found = [bearer, Array.isArray(apiKey) ? apiKey[0] : apiKey?.trim()]
  return [...new Set(found.flatMap((key) => (key === undefined || key === '' ? [] : [key])))]
}
