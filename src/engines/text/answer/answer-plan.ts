import type { EngineRequest, OutputFormat, Tool, JsonSchema } from '../../../core/generation.ts'
import { anyJsonObject, compileSchema, anyJsonValue } from '../../../grammar/compile-schema.ts'
import { compileBareText } from '../../../grammar/compile-bare-text.ts'
import type { Relaxation } from '../../../grammar/context.ts'
import { createGrammarBuilder, type GrammarBuilder } from '../../../grammar/grammar-builder.ts'
import { ImpossibleSchema, SchemaFault, type SchemaPath } from '../../../grammar/schema-fault.ts'
import { toolCallGrammar, triggerLead, triggers } from '../../../chat-format/tool-format/tool-grammar.ts'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import type { AnswerPlan } from '../prepared-text.ts'
import { ApiError, type ErrorPath } from '../../../core/error.ts'
import type { GrammarTool } from '../../../chat-format/tool-format/grammar-parts.ts'

const free: Omit<AnswerPlan, 'unenforced'> = {
  forced: null,
  lazy: null,
  readsCalls: false,
  isCallsOnly: false,
  banned: [],
}

/** All of a request that a plan is made of. */
export type PlannedRequest = Pick<EngineRequest, 'tools' | 'toolChoice' | 'output'>

/**
 * Plans the answer to a request. Throws `invalid-request` for a schema that cannot be kept.
 *
 * A call's arguments always follow the tool's schema, asked for or not: the
 * grammar starts with the marker of a call at the latest.
 */
export function planAnswer(request: PlannedRequest, format: ToolFormat | null): AnswerPlan {
  try {
    return plan(request, format)
  } catch (error) {
    // Each schema alone may be small enough, and all of them together too large.
    throw error instanceof SchemaFault ? refuseSchema(['tools'], error) : error
  }
}

/** Whether the plan will have a grammar for the whole answer. */
export function forcesAnswer(request: PlannedRequest, format: ToolFormat | null): boolean {
  if (request.output.kind === 'json') return true
  return format !== null && callableTools(request).length > 0 && requiresCall(request)
}

function plan(request: PlannedRequest, format: ToolFormat | null): AnswerPlan {
  const { output, toolChoice } = request
  const tools = callableTools(request)
  const builder = createGrammarBuilder()
  const unenforced = new Unenforced()
  const finish = (plan: Omit<AnswerPlan, 'unenforced'>): AnswerPlan => ({ ...plan, unenforced: unenforced.places })
  if (format === null || tools.length === 0) {
    const banned = format !== null && request.tools.length > 0 ? triggers(format, request.tools) : []
    const forced = output.kind === 'json' ? builder.toGrammar(jsonRule(builder, output, unenforced)) : null
    return finish({ ...free, forced, banned })
  }
  const callRules = () => tools.map((tool) => toolRules(builder, tool, unenforced))
  const section = (begins: 'behind-prompt' | 'at-trigger', rules = callRules()) =>
    toolCallGrammar(builder, format, rules, { minCalls: 1, maxCalls: toolChoice.parallel ? null : 1, begins })
  if (requiresCall(request)) {
    return finish({ ...free, forced: builder.toGrammar(section('behind-prompt')), readsCalls: true, isCallsOnly: true })
  }
  if (output.kind === 'json') {
    const forced = builder.toGrammar(`${section('behind-prompt')} | ${jsonRule(builder, output, unenforced)}`)
    return finish({ ...free, forced, readsCalls: true })
  }
  const rules = callRules()
  const grammar = builder.toGrammar(section('at-trigger', rules))
  const lead = triggerLead(format)
  const behindPrompt = lead === '' ? null : builder.toGrammar(section('behind-prompt', rules))
  const lazy = { triggers: triggers(format, tools), lead, grammar, behindPrompt }
  return finish({ ...free, lazy, readsCalls: true })
}

/** Collects the places of the keywords that a grammar does not hold an answer to. */
class Unenforced {
  readonly #places = new Map<string, ErrorPath>()

  get places(): readonly ErrorPath[] {
    return [...this.#places.values()]
  }

  /** What to do with a keyword that no grammar can say; undefined where such a schema is refused. */
  within(schemaPath: ErrorPath, isStrict: boolean): ((relaxation: Relaxation) => void) | undefined {
    return isStrict ? undefined : ({ path }) => this.add([...schemaPath, ...path])
  }

  add(place: ErrorPath): void {
    this.#places.set(JSON.stringify(place), place)
  }
}

export function requiresCall({ toolChoice }: Pick<PlannedRequest, 'toolChoice'>): boolean {
  return toolChoice.kind === 'required' || toolChoice.kind === 'named'
}

export function callableTools({ tools, toolChoice }: Omit<PlannedRequest, 'output'>): readonly Tool[] {
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

type JsonOutput = Extract<OutputFormat, { kind: 'json' }>

/** A schema that is not strict is kept as far as a grammar can keep it; the client checks the rest. */
function jsonRule(
  builder: GrammarBuilder,
  { schema, schemaPath, isStrict }: JsonOutput,
  unenforced: Unenforced,
): string {
  if (schema === null) return anyJsonObject(builder)
  try {
    return compileSchema(builder, schema, unenforced.within(schemaPath, isStrict))
  } catch (error) {
    throw error instanceof SchemaFault ? refuseSchema(schemaPath, error) : error
  }
}

/**
 * The rules for the arguments of a tool. Throws `invalid-request` for a schema that cannot be kept.
 *
 * A notation uses either the rule of all arguments or those of each, so they are
 * made when they are asked for. A strict schema is made as a whole at once: what
 * it says beside its properties would otherwise go unnoticed.
 */
function toolRules(builder: GrammarBuilder, tool: Tool, unenforced: Unenforced): GrammarTool {
  const root = argumentsSchema(tool)
  const use = <Rule extends string | null>(
    location: Pick<SchemaLocation, 'path' | 'schema'>,
    make: Make<Rule>,
    otherwise: Making<Rule>['otherwise'],
  ) => compile(builder, { tool, root, ...location }, { make, otherwise, unenforced })
  const compileArguments = () => use({ path: [], schema: root }, compileSchema, anyJsonObject)
  let argumentsRule = tool.isStrict ? compileArguments() : null
  return {
    tool,
    get argumentsRule() {
      return (argumentsRule ??= compileArguments())
    },
    compileSchema: (schema, name) => use({ path: ['properties', name], schema }, compileSchema, anyJsonValue),
    compileText: (schema, { name, ...frame }) => {
      const make: Make<string | null> = (rules, own, onRelaxed, place) =>
        compileBareText(rules, own, frame, { onRelaxed, ...place })
      return use({ path: ['properties', name], schema }, make, () => null)
    },
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

type SchemaLocation = {
  readonly tool: Tool
  readonly root: JsonSchema
  readonly path: SchemaPath
  readonly schema: JsonSchema
}

type Make<Rule extends string | null> = (
  builder: GrammarBuilder,
  schema: JsonSchema,
  onRelaxed: ((relaxation: Relaxation) => void) | undefined,
  location: { readonly root: JsonSchema; readonly path: SchemaPath },
) => Rule

type Making<Rule extends string | null> = {
  readonly make: Make<Rule>
  /** What stands in for a malformed schema. */
  otherwise(builder: GrammarBuilder): Rule
  readonly unenforced: Unenforced
}

/**
 * Compiles one schema of a tool. Where the tool is not strict, keywords that no grammar can say are
 * left out, for the client to check, and a malformed one allows any JSON. A schema that is too large
 * as a whole is always refused.
 */
function compile<Rule extends string | null>(
  builder: GrammarBuilder,
  { tool, root, path, schema }: SchemaLocation,
  { make, otherwise, unenforced }: Making<Rule>,
): Rule {
  const { schemaPath, isStrict } = tool
  const onRelaxed = unenforced.within(schemaPath, isStrict)
  try {
    return builder.attempt(() => make(builder, schema, onRelaxed, { root, path }))
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    // Where each argument has a rule of its own, one that nothing satisfies cannot be left out: the client checks it.
    const isSpare = error instanceof ImpossibleSchema && isOptional(tool, path)
    if (isStrict || (error.keyword === null && !isSpare)) throw refuseSchema(schemaPath, error)
    unenforced.add([...schemaPath, ...error.path])
    return otherwise(builder)
  }
}

function isOptional({ parameters }: Tool, path: SchemaPath): boolean {
  const name = path.at(-1)
  const { required } = parameters
  return name !== undefined && !(Array.isArray(required) && required.includes(name))
}

/** The error for a schema that cannot be kept, with the place in the request where it fails. */
export function refuseSchema(schemaPath: ErrorPath, fault: SchemaFault): ApiError {
  const path = [...schemaPath, ...fault.path]
  const reason = { code: 'invalid-request', path, fault: 'unsupported-value' } as const
  return new ApiError(reason, `${path.join('.')}: ${fault.message}`)
}
