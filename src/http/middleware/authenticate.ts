import type { FastifyRequest } from 'fastify'
import type { AccessCache } from '../../accounts/access/access-cache.ts'
import type { KeyAccess } from '../../accounts/access/key-access.ts'
import { maskKey } from '../../accounts/key-format.ts'
import { ApiError, toApiError, type RefusedKey } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { modelIds, modelIdsByStrength, type ModelId } from '../../core/model.ts'
import type { Format } from '../../protocols/format.ts'

/** A key that may be used here, and how to speak of it should it be refused later. */
export type Authenticated = { readonly access: KeyAccess; readonly shown: RefusedKey }

/** What a request says of itself before its body. */
export type RequestHead = Pick<FastifyRequest, 'headers' | 'ip'>

export type KeyParts = {
  readonly access: Pick<AccessCache, 'find' | 'noteUse'>
  readonly formats: readonly Pick<Format, 'keyHeader'>[]
}

/**
 * Finds out whose key a request carries, in any format's header on every route, and whether it may be used here.
 *
 * Clients may send two, one of them left over from another vendor, which is
 * overlooked. Two that both work are refused: which of them a route, a log or a
 * proxy went by would be anybody's guess.
 */
export async function authenticate(
  { access, formats }: KeyParts,
  { headers, ip }: RequestHead,
  endpoint: string | null,
): Promise<Authenticated> {
  const candidates = credentials(headers, formats)
  const found = await findAll(access, candidates)
  const ids = new Set(found.map(({ access }) => access.principal.apiKeyId))
  const [first] = found
  if (first === undefined || ids.size > 1) throw refuse(candidates[0])
  const refusal = refusalOf(first.access, ip, endpoint)
  if (refusal !== null) throw new KeyNotAllowed(refusal, first.access.principal.organizationId)
  access.noteUse(first.access, ip)
  return first
}

/** The key is valid, and may not be used for this. */
export class KeyNotAllowed extends ApiError {
  readonly organizationId: OrganizationId

  constructor(message: string, organizationId: OrganizationId) {
    super({ code: 'permission-denied' }, message)
    this.organizationId = organizationId
  }
}

export type Credential = { readonly key: string; readonly shown: RefusedKey }

async function findAll(
  cache: Pick<AccessCache, 'find'>,
  candidates: readonly Credential[],
): Promise<readonly Authenticated[]> {
  const found: Authenticated[] = []
  let failure: ApiError | null = null
  for (const { key, shown } of candidates) {
    try {
      const access = await cache.find(key)
      if (access !== null) found.push({ access, shown })
    } catch (error) {
      failure = toApiError(error)
    }
  }
  if (found.length === 0 && failure !== null) throw failure
  return found
}

/** Why nobody is let in under a key at the moment, whatever it may be used for; null where they are. */
export function closedReason({ closed }: KeyAccess): string | null {
  if (closed === 'organization-disabled') return 'The organization of this API key is disabled.'
  return closed === 'project-archived' ? 'The project of this API key is archived.' : null
}

function refusalOf(access: KeyAccess, ip: string, endpoint: string | null): string | null {
  const { endpoints, addresses } = access
  const closed = closedReason(access)
  if (closed !== null) return closed
  if (endpoint !== null && endpoints?.has(endpoint) === false) return 'This API key may not be used for this endpoint.'
  if (addresses?.includes(ip) === false) return 'This API key may not be used from this address.'
  return null
}

/** Once the body is read: whether the key may ask this model. Of others than its own it hears no names. */
export function requireModel(access: KeyAccess, model: string): void {
  const known = modelIds.find((id) => id === model)
  if (known === undefined) throw unknownModel(access, model)
  if (!mayUse(access, known)) {
    throw new ApiError({ code: 'permission-denied' }, `This API key may not use the model ${known}.`)
  }
}

/** There is no such model, or none that this key may know of. */
export function unknownModel(access: KeyAccess, model: string): ApiError {
  const available = modelIdsByStrength.filter((id) => mayUse(access, id))
  return new ApiError({ code: 'model-not-found', model, available }, 'The model does not exist.')
}

export function mayUse({ models }: KeyAccess, model: ModelId): boolean {
  return models?.has(model) ?? true
}

function refuse(credential: Credential | undefined): ApiError {
  const message =
    credential === undefined
      ? 'Missing API key: send Authorization: Bearer <key> or x-api-key'
      : 'The API key is not valid.'
  return new ApiError({ code: 'unauthenticated', key: credential?.shown ?? null }, message)
}

/** What clients send where a key is required and nobody has set one. */
const placeholders: ReadonlySet<string> = new Set(['', 'dummy', 'none', 'empty'])

/** Every key that a request shows; what stands for none is left out. */
export function credentials(headers: RequestHead['headers'], formats: KeyParts['formats']): Credential[] {
  return formats.flatMap(({ keyHeader: { name, read } }) => {
    const key = read(headers)
    if (key === null || placeholders.has(key.toLowerCase())) return []
    return [{ key, shown: { masked: maskKey(key), header: name } }]
  })
}
