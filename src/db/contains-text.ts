import { sql, type RawBuilder } from 'kysely'

/** Whether a column holds a text, whatever the capitals. What patterns are made of stands for itself. */
export function containsText(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
}
