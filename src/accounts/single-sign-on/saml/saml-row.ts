import type { Selectable, Transaction } from 'kysely'
import { conflict } from '../../../core/error.ts'
import type { ConnectionId } from '../../../core/ids.ts'
import type { SamlConnectionTable } from '../../../db/tables/saml.ts'
import type { Tables } from '../../../db/tables.ts'

export type SamlRow = Selectable<SamlConnectionTable>

/** Throws for a connection that speaks something else. */
export async function findSaml(db: Pick<Transaction<Tables>, 'selectFrom'>, id: ConnectionId): Promise<SamlRow> {
  const row = await db.selectFrom('saml_connections').selectAll().where('connection_id', '=', id).executeTakeFirst()
  if (row === undefined) throw conflict('This connection does not speak SAML.')
  return row
}
