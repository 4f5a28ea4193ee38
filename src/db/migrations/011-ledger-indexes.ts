import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { isPostgres } from '../is-postgres.ts'

/** What a list of the ledger can be narrowed to, and how a repeated body is found: none of them reads rows that do not match. */
export const ledgerIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    for (const [name, columns] of lists) {
      await sql.raw(`create index ${name} on ledger (${columns}, at, sequence)`).execute(db)
    }
    // Nearly all requests finish: a list of these is as quick without an index of its own.
    await sql
      .raw(
        `create index ledger_by_outcome on ledger (organization_id, outcome, at, sequence)
         where outcome = 'aborted' or outcome = 'failed'`,
      )
      .execute(db)
    await sql.raw('create index ledger_by_body on ledger (body_hash) where body_hash is not null').execute(db)
    if (!isPostgres(db)) await describeLedger(db)
  },
}

const lists = [
  ['ledger_by_key', 'api_key_id'],
  ['ledger_by_project', 'project_id'],
  ['ledger_by_model', 'organization_id, model'],
] as const

/** The rows of each index, and how many of them have the same first column, the same first two, and so on. */
const shapes = {
  sqlite_autoindex_ledger_1: '10000000 1 1',
  ledger_by_organization: '10000000 500000 20 1',
  ledger_by_key: '10000000 10000 2 1',
  ledger_by_project: '10000000 100000 10 1',
  ledger_by_model: '10000000 500000 200000 5 1',
  ledger_by_outcome: '500000 25000 12500 2 1',
  ledger_by_body: '10000000 1',
} as const

/**
 * Tells SQLite what a large ledger is like, since it counts only when it is asked to.
 *
 * Without it the planner takes every index for as good as any other, and looks
 * for a repeated body among all requests of its organization.
 */
async function describeLedger(db: Kysely<unknown>): Promise<void> {
  await sql.raw('analyze sqlite_schema').execute(db)
  for (const [index, numbers] of Object.entries(shapes)) {
    await sql`insert into sqlite_stat1 (tbl, idx, stat) values ('ledger', ${index}, ${numbers})`.execute(db)
  }
  await sql.raw('analyze sqlite_schema').execute(db)
}
