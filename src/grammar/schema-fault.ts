/** Where in a schema something stands, beginning at its root. */
export type SchemaPath = readonly (string | number)[]

/**
 * A schema that cannot become a grammar: malformed, too large, or saying something a grammar cannot.
 *
 * `message` may be shown to the caller; it does not repeat the path.
 */
export class SchemaFault extends Error {
  override readonly name = 'SchemaFault'
  readonly path: SchemaPath
  /** The keyword at fault; null where the schema as a whole is. */
  readonly keyword: string | null

  constructor(path: SchemaPath, keyword: string | null, message: string) {
    super(message)
    this.path = path
    this.keyword = keyword
  }
}
