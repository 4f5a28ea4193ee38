import type { ConnectionId } from '../../../core/ids.ts'
import type { SsoParts } from '../parts.ts'
import { samlAddresses } from './addresses.ts'
import { readKeys } from './keys.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow } from './saml-sign-in.ts'
import { writeMetadata } from './write-metadata.ts'

/** This service’s own description for a connection; there is nothing secret in it. */
export async function describeToProvider(parts: SsoParts, id: ConnectionId): Promise<string> {
  const connection = await findConnectionRow(parts, id)
  const { name_id_format: nameIdFormat } = await findSaml(parts.db, id)
  return writeMetadata({ ...samlAddresses(parts, id), keys: readKeys(parts, connection), nameIdFormat })
}
