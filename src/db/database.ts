import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** SQLite or PostgreSQL: what asks it cannot tell. */
export type Database = Kysely<Tables>
