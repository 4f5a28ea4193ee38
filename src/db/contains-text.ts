import { sql, type RawBuilder } from 'kysely'
import type { Database } from './database.ts'
import { isPostgres } from './is-postgres.ts'

/**
 * Whether a column holds a text, whatever the capitals. What patterns are made of stands for itself.
 *
 * What either database takes for the same letter depends on how it was set up, and may be those of ASCII alone, so that it is
 * said here.
 */
export function containsText(db: Pick<Database, 'getExecutor'>, column: string, text: string): RawBuilder<boolean> {
  if (isPostgres(db)) return sql`${sql.ref(column)} ~ ${toExpression(text)}`
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return sql`fold_case(${sql.ref(column)}) like ${pattern} escape '\\'`
}

/** A regular expression that has each letter in both its forms. */
function toExpression(text: string): string {
  return Array.from(text, (character) => {
    const forms = new Set([character, character.toLowerCase(), character.toUpperCase()])
    const single = [...forms].filter((form) => Array.from(form).length === 1)
    return single.length > 1 ? `[${single.join('')}]` : character.replace(/[$()*+.?[\\\]^{|}]/, String.raw`\$&`)
  }).join('')
}
