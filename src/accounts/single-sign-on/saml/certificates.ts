import { X509Certificate } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../../core/ids.ts'
import { requirePermission } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Tables } from '../../../db/tables.ts'
import type { SignInParts } from '../../sign-in/parts.ts'
import { findConnection, type ConnectionReference, type ConnectionRow } from '../read-connections.ts'

/** A certificate that is trusted, or was. */
export type TrustedCertificate = {
  readonly sha256: string
  readonly notAfterMs: number
  readonly seenAtMs: number
  /** Since when the provider’s description has it no more, and nothing that it signs is taken. */
  readonly goneAtMs: number | null
}

type Read = {
  readonly connection: Pick<ConnectionRow, 'id' | 'organization_id'>
  readonly certificates: readonly string[]
  readonly nowMs: number
}

/** Trusts the certificates that a description has, and those no more that it has not. */
export async function keepCertificates(
  transaction: Transaction<Tables>,
  { connection, certificates, nowMs }: Read,
): Promise<void> {
  const rows = certificates.map((certificate) => {
    const { raw, fingerprint256, validToDate } = new X509Certificate(Buffer.from(certificate, 'base64'))
    return {
      connection_id: connection.id,
      organization_id: connection.organization_id,
      sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
      certificate: raw.toString('base64'),
      not_after: validToDate.getTime(),
      seen_at: nowMs,
      gone_at: null,
    }
  })
  await transaction
    .updateTable('connection_certificates')
    .set({ gone_at: nowMs })
    .where('connection_id', '=', connection.id)
    .where('gone_at', 'is', null)
    .where(
      'sha256',
      'not in',
      rows.map(({ sha256 }) => sha256),
    )
    .execute()
  await transaction
    .insertInto('connection_certificates')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['connection_id', 'sha256']).doUpdateSet({ gone_at: null }))
    .execute()
}

export async function readTrusted(
  { db }: Pick<SignInParts, 'db'>,
  { id }: Pick<ConnectionRow, 'id'>,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('connection_certificates')
    .select('certificate')
    .where('connection_id', '=', id)
    .where('gone_at', 'is', null)
    .orderBy('seen_at', 'desc')
    .orderBy('sha256')
    .execute()
  return rows.map(({ certificate }) => certificate)
}

/** What is trusted of a connection, and was: the latest first. */
export async function listCertificates(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: ConnectionReference & { readonly organizationId: OrganizationId },
): Promise<readonly TrustedCertificate[]> {
  requirePermission(principal, 'connections:read', reference)
  const { id } = await findConnection(db, reference)
  const rows = await db
    .selectFrom('connection_certificates')
    .select(['sha256', 'not_after', 'seen_at', 'gone_at'])
    .where('connection_id', '=', id)
    .where('organization_id', '=', reference.organizationId)
    .orderBy('seen_at', 'desc')
    .orderBy('sha256')
    .execute()
  return rows.map(({ sha256, not_after, seen_at, gone_at }) => {
    return { sha256, notAfterMs: not_after, seenAtMs: seen_at, goneAtMs: gone_at }
  })
}
