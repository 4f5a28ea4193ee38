import { sql, type RawBuilder } from 'kysely'

/** PostgreSQL's own time in milliseconds since 1970, the same for all gateways. */
export const databaseNow = (): RawBuilder<number> => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
