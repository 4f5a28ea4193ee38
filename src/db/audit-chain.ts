import { hash as hashOf } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { OrganizationId } from '../core/ids.ts'
import { isPostgres } from './is-postgres.ts'
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

type ChainEnd = { readonly sequence: number; readonly hash: string }

/** Where transactions have brought chains to that they hold locked: nobody else can have moved these since. */
const endsOf = new WeakMap<Transaction<Tables>, Map<OrganizationId, ChainEnd>>()

/** Adds a row at the end of its organization's chain. Others who want to do so wait until this transaction ends. */
export async function appendAuditRow(transaction: Transaction<Tables>, row: AuditRow): Promise<void> {
  const { organization_id: organizationId } = row
  const end = await lockChainEnd(transaction, organizationId)
  const link = { sequence: end.sequence + 1, previous_hash: end.hash }
  const hash = hashAuditRow(row, link)
  await writeRow(transaction, { ...row, ...link, hash })
  endsOf.get(transaction)?.set(organizationId, { sequence: link.sequence, hash })
}

/** PostgreSQL does both in one statement, for which others who wait for the chain wait less. */
async function writeRow(transaction: Transaction<Tables>, row: AuditTable): Promise<void> {
  const { organization_id: organizationId, sequence, hash } = row
  const insert = (db: Pick<Transaction<Tables>, 'insertInto'>) => db.insertInto('audit').values(row)
  const moveEnd = (db: Pick<Transaction<Tables>, 'updateTable'>) =>
    db
      .updateTable('audit_chains')
      .set({ sequence: sequence ?? 0, hash: hash ?? chainStart })
      .where('organization_id', '=', organizationId)
  if (isPostgres(transaction)) await moveEnd(transaction.with('added', insert)).execute()
  else {
    await insert(transaction).execute()
    await moveEnd(transaction).execute()
  }
}

/**
 * Locks the end of a chain until the transaction is over, and returns it. Whoever holds it is alone in changing what is
 * the organization's: what they read is still so when they write.
 */
export async function lockChainEnd(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
): Promise<ChainEnd> {
  const ends = endsOf.get(transaction) ?? new Map<OrganizationId, ChainEnd>()
  endsOf.set(transaction, ends)
  const end = ends.get(organizationId) ?? (await takeChainEnd(transaction, organizationId))
  ends.set(organizationId, end)
  return end
}

/** An update that changes nothing locks the row on PostgreSQL; SQLite has one writer at a time anyway. */
function takeChainEnd(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<ChainEnd> {
  return transaction
    .insertInto('audit_chains')
    .values({ organization_id: organizationId, sequence: 0, hash: chainStart })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet(({ ref }) => ({ sequence: ref('audit_chains.sequence') })),
    )
    .returning(['sequence', 'hash'])
    .executeTakeFirstOrThrow()
}
