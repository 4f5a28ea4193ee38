import { hash as hashOf } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { OrganizationId } from '../core/ids.ts'
import type { AuditTable } from './tables/audit.ts'
import type { Tables } from './tables.ts'

/** What the first row of a chain follows. */
export const chainStart = '0'.repeat(64)

export type AuditRow = Omit<AuditTable, 'sequence' | 'previous_hash' | 'hash'>
export type ChainLink = { readonly sequence: number; readonly previous_hash: string }

/**
 * The hash of a row at its place.
 *
 * What goes into it, and in which order, is settled for good: rows hashed by an
 * older version are checked by this one.
 */
export function hashAuditRow(row: AuditRow, { sequence, previous_hash }: ChainLink): string {
  const fields = [row.id, row.at, row.actor, row.action, row.target, row.before, row.after, row.address, row.request_id]
  const content = JSON.stringify(['odyssey-audit-1', row.organization_id, sequence, previous_hash, ...fields])
  return hashOf('sha256', content)
}

/** Adds a row at the end of its organization's chain. Others who want to do so wait until this transaction ends. */
export async function appendAuditRow(transaction: Transaction<Tables>, row: AuditRow): Promise<void> {
  const end = await lockChainEnd(transaction, row.organization_id)
  const link = { sequence: end.sequence + 1, previous_hash: end.hash }
  const hash = hashAuditRow(row, link)
  await transaction
    .insertInto('audit')
    .values({ ...row, ...link, hash })
    .execute()
  await transaction
    .updateTable('audit_chains')
    .set({ sequence: link.sequence, hash })
    .where('organization_id', '=', row.organization_id)
    .execute()
}

/**
 * Locks the end of a chain until the transaction is over. An update that changes nothing locks the row on PostgreSQL;
 * SQLite has one writer at a time anyway.
 */
export function lockChainEnd(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
): Promise<{ readonly sequence: number; readonly hash: string }> {
  return transaction
    .insertInto('audit_chains')
    .values({ organization_id: organizationId, sequence: 0, hash: chainStart })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet(({ ref }) => ({ sequence: ref('audit_chains.sequence') })),
    )
    .returning(['sequence', 'hash'])
    .executeTakeFirstOrThrow()
}
