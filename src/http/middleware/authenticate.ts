import type { IncomingHttpHeaders } from 'node:http'
import { findPrincipal, type ApiKeys } from '../../accounts/api-keys.ts'
import { maskKey } from '../../accounts/key-format.ts'
import { ApiError, type RefusedKey } from '../../core/error.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'

/**
 * Finds out whose key a request carries, in either format's header on every route.
 *
 * Clients may send two, one of them left over from another vendor: the bearer
 * token goes first, and the request is refused only when neither is valid.
 */
export async function authenticate(apiKeys: ApiKeys, headers: IncomingHttpHeaders): Promise<ApiKeyPrincipal> {
  const candidates = credentials(headers)
  for (const { key } of candidates) {
    const principal = await findPrincipal(apiKeys, key)
    if (principal !== null) return principal
  }
  const [first] = candidates
  const key = first === undefined ? null : { masked: maskKey(first.key), header: first.header }
  const message =
    key === null ? 'Missing API key: send Authorization: Bearer <key> or x-api-key' : 'The API key is not valid.'
  throw new ApiError({ code: 'unauthenticated', key }, message)
}

type Credential = { readonly key: string; readonly header: RefusedKey['header'] }

/** What clients send where a key is required and nobody has set one. */
const placeholders: ReadonlySet<string> = new Set(['', 'dummy', 'none', 'empty'])

function credentials(headers: IncomingHttpHeaders): Credential[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  const apiKey = headers['x-api-key'] ?? ''
  const found: Credential[] = [
    { key: bearer, header: 'authorization' },
    { key: (typeof apiKey === 'string' ? apiKey : (apiKey[0] ?? '')).trim(), header: 'x-api-key' },
  ]
  return found.filter(({ key }) => !placeholders.has(key.toLowerCase()))
}
