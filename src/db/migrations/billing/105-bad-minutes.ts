import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** An index of the minutes in which a request was bad: they are few, and the status page asks for them every minute. */
export const badMinutes: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create index availability_minutes_bad on availability_minutes (at) where bad > 0`.execute(db)
  },
}
