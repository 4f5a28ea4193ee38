/** Where in a schema something stands, beginning at its root. */
export type SchemaPath = readonly (string | number)[]

/**
 * A schema that cannot become a grammar: malformed, too large, or saying something a grammar cannot.
 *
 * `message` may be shown to the caller; it does not repeat the path.
 */
export class SchemaFault extends Error {
  override readonly name: string = 'SchemaFault'
  readonly path: SchemaPath
  /** The keyword at fault; null where the schema as a whole is. */
  readonly keyword: string | null

  constructor(path: SchemaPath, keyword: string | null, message: string) {
    super(message)
    this.path = path
    this.keyword = keyword
  }
}

/** A schema that contradicts itself. Where it is one of several alternatives, or may be left out, the others remain. */
export class ImpossibleSchema extends SchemaFault {
  override readonly name = 'ImpossibleSchema'

  constructor(path: SchemaPath, message = 'no value can satisfy this schema') {
    super(path, null, message)
  }
}
