import type { JsonSchema, Tool } from '../../../../core/generation.ts'
import { anyJsonObject, anyJsonValue, compileSchema } from '../../../../grammar/compile-schema.ts'
import type { GrammarBuilder } from '../../../../grammar/grammar-builder.ts'
import { SchemaFault, type SchemaPath } from '../../../../grammar/schema-fault.ts'
import type { GrammarTool } from '../../../../chat-format/tool-format/tool-grammar.ts'
import { refuseSchema } from './refuse-schema.ts'

/**
 * The rules for the arguments of a tool. Throws `invalid-request` for a schema that cannot be kept.
 *
 * A notation uses either the rule of all arguments or those of each, so they are
 * made when they are asked for. A strict schema is made as a whole at once: what
 * it says beside its properties would otherwise go unnoticed.
 */
export function toolRules(builder: GrammarBuilder, tool: Tool): GrammarTool {
  const root = argumentsSchema(tool)
  const compileArguments = () => compile(builder, { tool, root, path: [], schema: root })
  let argumentsRule = tool.isStrict ? compileArguments() : null
  return {
    tool,
    get argumentsRule() {
      return (argumentsRule ??= compileArguments())
    },
    compileSchema: (schema, name) => compile(builder, { tool, root, path: ['properties', name], schema }),
  }
}

/** The model sees a tool of free text as a function of one text. */
export function modelSchema({ input, parameters }: Tool): JsonSchema {
  if (input === 'json') return parameters
  return { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false }
}

/** Arguments are an object also where the schema leaves that open. */
function argumentsSchema(tool: Tool): JsonSchema {
  const schema = modelSchema(tool)
  const type = schema['type'] ?? ['object']
  return Array.isArray(type) && type.includes('object') ? { ...schema, type: 'object' } : schema
}

type Place = {
  readonly tool: Tool
  readonly root: JsonSchema
  readonly path: SchemaPath
  readonly schema: JsonSchema
}

/**
 * Of a tool that is not strict, what no grammar can say is left out; where a
 * keyword is malformed, its values are any JSON. The client checks what is left
 * out. What is too large as a whole is refused always.
 */
function compile(builder: GrammarBuilder, { tool, root, path, schema }: Place): string {
  const onRelaxed = tool.isStrict ? undefined : () => {}
  try {
    return builder.attempt(() => compileSchema(builder, schema, onRelaxed, { root, path }))
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    if (tool.isStrict || error.keyword === null) throw refuseSchema(tool.schemaPath, error)
    return path.length === 0 ? anyJsonObject(builder) : anyJsonValue(builder)
  }
}
