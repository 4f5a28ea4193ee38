import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When an invitation's link was last handed to the mail relay; null where it never was. */
export const invitationMail: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('invitations').addColumn('mailed_at', 'bigint').execute()
  },
}
