import { isWellFormedKey } from '../../accounts/key-format.ts'
import { findManagementPrincipal } from '../../accounts/management-keys.ts'
import { ApiError } from '../../core/error.ts'
import type { ManagementKeyPrincipal, Principal } from '../../core/principal.ts'
import { formats } from '../../protocols/formats.ts'
import { credentials, type Credential, type RequestHead } from '../middleware/authenticate.ts'
import type { FailedAttempts } from './failed-attempts.ts'
import type { ManagementParts } from './parts.ts'

/** On whose behalf a request to the management API is made: somebody who has signed in, or a management key's. */
export async function findPrincipal(
  parts: Pick<ManagementParts, 'accounts' | 'findSession'>,
  attempts: FailedAttempts,
  head: RequestHead,
): Promise<Principal> {
  const shown = credentials(head.headers, formats)
  if (shown.length === 0) {
    const member = (await parts.findSession?.(head)) ?? null
    if (member !== null) return member
    throw refuse(null, 'Send Authorization: Bearer <management key> or x-api-key.')
  }
  attempts.require(head.ip)
  const found = await findAll(parts, shown)
  const [first] = found
  // Two that both work and differ: which of them a log or a proxy went by would be anybody's guess.
  const isOne = found.every(({ managementKeyId }) => managementKeyId === first?.managementKeyId)
  if (first !== undefined && isOne) return first
  attempts.count(head.ip)
  const isApiKey = shown.some(({ key }) => isWellFormedKey(key))
  const message = isApiKey
    ? 'A key for models manages nothing: send a management key, which begins with sk-odym-.'
    : 'The management key is not valid.'
  throw refuse(shown[0] ?? null, message)
}

async function findAll(
  { accounts }: Pick<ManagementParts, 'accounts'>,
  shown: readonly Credential[],
): Promise<ManagementKeyPrincipal[]> {
  const found: ManagementKeyPrincipal[] = []
  for (const { key } of shown) {
    const principal = await findManagementPrincipal(accounts, key)
    if (principal !== null) found.push(principal)
  }
  return found
}

function refuse(credential: Credential | null, message: string): ApiError {
  return new ApiError({ code: 'unauthenticated', key: credential?.shown ?? null }, message)
}
