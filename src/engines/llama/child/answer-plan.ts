import { ApiError, type ErrorPath } from '../../../core/error.ts'
import type { EngineRequest, OutputFormat, Tool } from '../../../core/generation.ts'
import { anyJsonObject, anyJsonValue, compileSchema } from '../../../prompts/grammar/compile-schema.ts'
import { createGrammarBuilder, type GrammarBuilder } from '../../../prompts/grammar/grammar-builder.ts'
import { SchemaFault } from '../../../prompts/grammar/schema-fault.ts'
import { toolCallGrammar, triggers, type GrammarTool } from '../../../prompts/tool-format/tool-grammar.ts'
import type { ToolFormat } from '../../../prompts/tool-format/tool-format.ts'

/** What the answer must look like once thinking is over. */
export type AnswerPlan = {
  /** A grammar for the whole answer; null leaves it free. */
  readonly forced: string | null
  /** A grammar that holds from a marker on, which is part of it; what comes before the marker is free. */
  readonly lazy: { readonly triggers: readonly string[]; readonly grammar: string } | null
  /** Markup of calls is read as calls. */
  readonly readsCalls: boolean
  /** The answer is calls and nothing else. */
  readonly isCallsOnly: boolean
  /** Texts the answer must not contain: with these the model would begin a call that nobody wants. */
  readonly banned: readonly string[]
}

const free: AnswerPlan = { forced: null, lazy: null, readsCalls: false, isCallsOnly: false, banned: [] }

/**
 * Plans the answer to a request. Throws `invalid-request` for a schema that cannot be kept.
 *
 * A call's arguments always follow the tool's schema, asked for or not: the
 * grammar starts with the marker of a call at the latest.
 */
export function planAnswer(request: EngineRequest, format: ToolFormat | null): AnswerPlan {
  try {
    return plan(request, format)
  } catch (error) {
    // Each schema alone may be small enough, and all of them together too large.
    throw error instanceof SchemaFault ? refusal(['tools'], error) : error
  }
}

function plan(request: EngineRequest, format: ToolFormat | null): AnswerPlan {
  const { output, toolChoice } = request
  const tools = callableTools(request)
  if (format === null || tools.length === 0) {
    const banned = format !== null && request.tools.length > 0 ? triggers(format) : []
    return { ...free, forced: output.kind === 'json' ? jsonGrammar(output) : null, banned }
  }
  const builder = createGrammarBuilder()
  const section = toolSection(builder, format, { tools, parallel: toolChoice.parallel })
  if (toolChoice.kind === 'required' || toolChoice.kind === 'named') {
    return { ...free, forced: builder.toGrammar(section), readsCalls: true, isCallsOnly: true }
  }
  if (output.kind === 'json') {
    const forced = builder.toGrammar(`${section} | ${jsonRule(builder, output)}`)
    return { ...free, forced, readsCalls: true }
  }
  const lazy = { triggers: triggers(format), grammar: builder.toGrammar(section) }
  return { ...free, lazy, readsCalls: true }
}

function callableTools({ tools, toolChoice }: EngineRequest): readonly Tool[] {
  switch (toolChoice.kind) {
    case 'none':
      return []
    case 'named':
      return tools.filter(({ name }) => name === toolChoice.name)
    case 'auto':
    case 'required': {
      const { allowed } = toolChoice
      return allowed === null ? tools : tools.filter(({ name }) => allowed.includes(name))
    }
  }
}

function toolSection(
  builder: GrammarBuilder,
  format: ToolFormat,
  { tools, parallel }: { readonly tools: readonly Tool[]; readonly parallel: boolean },
): string {
  const grammarTools = tools.map((tool): GrammarTool => {
    const compile = (schema: Tool['parameters']) => compileToolSchema(builder, tool, schema)
    return { tool, argumentsRule: compile(modelSchema(tool)), compileSchema: compile }
  })
  return toolCallGrammar(builder, format, grammarTools, { minCalls: 1, maxCalls: parallel ? null : 1 })
}

/**
 * A tool that is not strict and says what no grammar can is held to any JSON;
 * its other limits are the client's to check. What is too large is refused always.
 */
function compileToolSchema(builder: GrammarBuilder, tool: Tool, schema: Tool['parameters']): string {
  try {
    // A builder is of no use after a fault. Where one is to be got over, the schema is tried on a builder of its own.
    if (!tool.isStrict) compileSchema(createGrammarBuilder(), schema)
    return compileSchema(builder, schema)
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    if (tool.isStrict || error.keyword === null) throw refusal(tool.schemaPath, error)
    return schema === tool.parameters ? anyJsonObject(builder) : anyJsonValue(builder)
  }
}

/** The model sees a tool of free text as a function of one text. */
export function modelSchema({ input, parameters }: Tool): Tool['parameters'] {
  if (input === 'json') return parameters
  return { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false }
}

type JsonOutput = Extract<OutputFormat, { kind: 'json' }>

function jsonGrammar(output: JsonOutput): string {
  const builder = createGrammarBuilder()
  return builder.toGrammar(jsonRule(builder, output))
}

function jsonRule(builder: GrammarBuilder, { schema, schemaPath }: JsonOutput): string {
  if (schema === null) return anyJsonObject(builder)
  try {
    return compileSchema(builder, schema)
  } catch (error) {
    throw error instanceof SchemaFault ? refusal(schemaPath, error) : error
  }
}

function refusal(schemaPath: ErrorPath, fault: SchemaFault): ApiError {
  const path = [...schemaPath, ...fault.path]
  const reason = { code: 'invalid-request', path, fault: 'unsupported-value' } as const
  return new ApiError(reason, `${path.join('.')}: ${fault.message}`)
}
