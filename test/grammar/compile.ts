import type { JsonSchema } from '../../src/core/generation.ts'
import { compileSchema } from '../../src/grammar/compile-schema.ts'
import type { Relaxation } from '../../src/grammar/context.ts'
import { createGrammarBuilder } from '../../src/grammar/grammar-builder.ts'
import { SchemaFault } from '../../src/grammar/schema-fault.ts'

export function toGrammar(schema: JsonSchema, onRelaxed?: (relaxation: Relaxation) => void): string {
  const builder = createGrammarBuilder()
  return builder.toGrammar(compileSchema(builder, schema, onRelaxed))
}

/** The fault a schema ends in; anything else that is thrown goes on, and a grammar is an error. */
export function faultFrom(schema: JsonSchema): SchemaFault {
  try {
    toGrammar(schema)
  } catch (error) {
    if (error instanceof SchemaFault) return error
    throw error
  }
  throw new Error(`No fault in ${JSON.stringify(schema).slice(0, 200)}`)
}
