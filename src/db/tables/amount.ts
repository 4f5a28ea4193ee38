import { sql, type ColumnType, type RawBuilder } from 'kysely'

/** A column of 64 bits for an amount that may be beyond the whole numbers of JavaScript: drivers fail on those, so it is read by `amountText`. */
export type Amount = ColumnType<unknown, number | bigint, number | bigint>

/** A column of such amounts as text, which has all their digits. */
export function amountText(column: string): RawBuilder<string> {
  return sql<string>`cast(${sql.ref(column)} as text)`
}
