import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { chainStart, hashAuditRow, type AuditRow } from '../audit-chain.ts'

/** Makes a chain of every organization's audit rows, those from before included, in the order they were written. */
export const audit: Migration = {
  async up(db: Kysely<unknown>) {
    const texts = ['before', 'after', 'address', 'request_id', 'previous_hash', 'hash']
    for (const text of texts) await db.schema.alterTable('audit').addColumn(text, 'text').execute()
    await db.schema.alterTable('audit').addColumn('sequence', 'bigint').execute()
    await db.schema
      .createTable('audit_chains')
      .addColumn('organization_id', 'text', (column) => column.primaryKey())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .execute()
    await chainRowsFromBefore(db)
    await db.schema
      .createIndex('audit_by_sequence')
      .on('audit')
      .columns(['organization_id', 'sequence'])
      .unique()
      .execute()
  },
}

async function chainRowsFromBefore(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<AuditRow>`select * from audit order by organization_id, at, id`.execute(db)
  const ends = new Map<AuditRow['organization_id'], { sequence: number; hash: string }>()
  for (const row of rows) {
    const end = ends.get(row.organization_id) ?? { sequence: 0, hash: chainStart }
    const sequence = end.sequence + 1
    const hash = hashAuditRow(row, { sequence, previous_hash: end.hash })
    await sql`update audit set sequence = ${sequence}, previous_hash = ${end.hash}, hash = ${hash} where id = ${row.id}`.execute(
      db,
    )
    ends.set(row.organization_id, { sequence, hash })
  }
  for (const [organization, { sequence, hash }] of ends) {
    await sql`insert into audit_chains (organization_id, sequence, hash) values (${organization}, ${sequence}, ${hash})`.execute(
      db,
    )
  }
}
