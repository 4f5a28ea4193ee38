import { invalidRequest } from '../../../core/error.ts'
import type { SsoParts } from '../parts.ts'
import type { ConnectionRow } from '../read-connections.ts'
import { keepCertificates } from './certificates.ts'
import {
  checkCertificates,
  checkLocation,
  MetadataFault,
  readMetadata,
  type ProviderMetadata,
} from './read-metadata.ts'
import type { SamlRow } from './saml-row.ts'

/** Where a provider’s description is, or what stands in it. */
export type MetadataSource = { readonly metadataUrl: string } | { readonly metadata: string } | ProviderMetadata

/** The description of a provider, as somebody hands it over. Throws with the place of what cannot be used of it. */
export async function findMetadata(parts: Pick<SsoParts, 'sso'>, source: MetadataSource): Promise<ProviderMetadata> {
  try {
    if ('metadataUrl' in source) return await fetchMetadata(parts, source.metadataUrl)
    return 'metadata' in source ? readMetadata(Buffer.from(source.metadata)) : check(source)
  } catch (cause) {
    const field = 'metadataUrl' in source ? 'metadataUrl' : 'metadata' in source ? 'metadata' : 'certificates'
    if (cause instanceof MetadataFault) throw invalidRequest([field], 'value', cause.message)
    throw cause
  }
}

function check({ entityId, signInUrl, signOutUrl, certificates }: ProviderMetadata): ProviderMetadata {
  return {
    entityId,
    signInUrl: checkLocation(signInUrl, 'signInUrl'),
    signOutUrl: signOutUrl === null ? null : checkLocation(signOutUrl, 'signOutUrl'),
    certificates: checkCertificates(certificates, 'certificates'),
  }
}

async function fetchMetadata({ sso }: Pick<SsoParts, 'sso'>, url: string): Promise<ProviderMetadata> {
  let bytes: Uint8Array
  try {
    const response = await sso.saml.fetch(url, {})
    if (response.status !== 200) throw new Error(`It answered ${response.status}.`)
    bytes = new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : ''
    throw new MetadataFault(url, `It cannot be read. ${reason}`, { cause })
  }
  return readMetadata(bytes)
}

type Known = { readonly connection: ConnectionRow; readonly saml: SamlRow }

/** So soon a description is not read again because of a signature that nobody knows. */
const anewMs = 30_000

/**
 * Reads a provider’s description again where that is due, or where a signature is of a key that is not known yet. One
 * that cannot be read, or has become another provider’s, leaves the last good one in force. Tells whether it was read.
 */
export async function refreshMetadata(
  parts: SsoParts,
  { connection, saml }: Known,
  { isUnknownKey }: { readonly isUnknownKey: boolean },
): Promise<boolean> {
  const { metadata_url: url } = saml
  const { clock, db, sso } = parts
  const nowMs = clock.nowMs()
  const triedAtMs = Math.max(saml.read_at, saml.failed_at ?? 0)
  if (url === null || nowMs - triedAtMs < (isUnknownKey ? anewMs : sso.saml.refreshMs)) return false
  const own = db
    .updateTable('saml_connections')
    .where('connection_id', '=', connection.id)
    .where('organization_id', '=', connection.organization_id)
  try {
    const { entityId, signInUrl, signOutUrl, certificates } = await fetchMetadata(parts, url)
    if (entityId !== connection.issuer) throw new MetadataFault(url, `It is the description of ${entityId} now.`)
    await db.transaction().execute(async (transaction) => {
      await keepCertificates(transaction, { connection, certificates, nowMs })
      await transaction
        .updateTable('saml_connections')
        .set({ sign_in_url: signInUrl, sign_out_url: signOutUrl, read_at: nowMs, failed_at: null, failure: null })
        .where('connection_id', '=', connection.id)
        .where('organization_id', '=', connection.organization_id)
        .execute()
    })
    return true
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error
    await own.set({ failed_at: nowMs, failure: error.message.slice(0, 500) }).execute()
    return false
  }
}
