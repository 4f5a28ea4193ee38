import type { EngineRequest, OutputFormat, Tool } from '../../../../core/generation.ts'
import { anyJsonObject, compileSchema } from '../../../../grammar/compile-schema.ts'
import { createGrammarBuilder, type GrammarBuilder } from '../../../../grammar/grammar-builder.ts'
import { SchemaFault } from '../../../../grammar/schema-fault.ts'
import { toolCallGrammar, triggers } from '../../../../chat-format/tool-format/tool-grammar.ts'
import type { ToolFormat } from '../../../../chat-format/tool-format/tool-format.ts'
import type { AnswerPlan } from '../../prepared-text.ts'
import { refuseSchema } from './refuse-schema.ts'
import { toolRules } from './tool-rules.ts'

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
    throw error instanceof SchemaFault ? refuseSchema(['tools'], error) : error
  }
}

/** Whether the plan will have a grammar for the whole answer. */
export function forcesAnswer(request: EngineRequest, format: ToolFormat | null): boolean {
  if (request.output.kind === 'json') return true
  return format !== null && callableTools(request).length > 0 && requiresCall(request)
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
  if (requiresCall(request)) {
    return { ...free, forced: builder.toGrammar(section), readsCalls: true, isCallsOnly: true }
  }
  if (output.kind === 'json') {
    const forced = builder.toGrammar(`${section} | ${jsonRule(builder, output)}`)
    return { ...free, forced, readsCalls: true }
  }
  const lazy = { triggers: triggers(format), grammar: builder.toGrammar(section) }
  return { ...free, lazy, readsCalls: true }
}

function requiresCall({ toolChoice }: EngineRequest): boolean {
  return toolChoice.kind === 'required' || toolChoice.kind === 'named'
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
  const rules = tools.map((tool) => toolRules(builder, tool))
  return toolCallGrammar(builder, format, rules, { minCalls: 1, maxCalls: parallel ? null : 1 })
}

type JsonOutput = Extract<OutputFormat, { kind: 'json' }>

function jsonGrammar(output: JsonOutput): string {
  const builder = createGrammarBuilder()
  return builder.toGrammar(jsonRule(builder, output))
}

/** A schema that is not strict is kept as far as a grammar can keep it; the client checks the rest. */
function jsonRule(builder: GrammarBuilder, { schema, schemaPath, isStrict }: JsonOutput): string {
  if (schema === null) return anyJsonObject(builder)
  try {
    return compileSchema(builder, schema, isStrict ? undefined : () => {})
  } catch (error) {
    throw error instanceof SchemaFault ? refuseSchema(schemaPath, error) : error
  }
}
