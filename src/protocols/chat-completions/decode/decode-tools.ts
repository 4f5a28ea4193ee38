import { ApiError, type ErrorPath } from '../../../core/error.ts'
import type { JsonSchema, Tool, ToolChoice } from '../../../core/generation.ts'
import { fieldError, wordFault } from '../error.ts'
import type { ChatBody } from './schema.ts'
import type { WireFunction, WireTool, WireToolChoice, WireToolReference } from './tool-schema.ts'

export type DecodedTools = {
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  /** The request used the older `functions` field, so the answer uses `function_call`. */
  readonly isLegacy: boolean
}

type ObjectChoice = Exclude<WireToolChoice, string>
type NamedTool = { readonly tool: Tool; readonly path: ErrorPath }
type FreeKind = Exclude<ToolChoice['kind'], 'named'>

const noArguments: JsonSchema = { type: 'object', properties: {} }

/** A tool that takes free text looks like this to a model that only knows functions. */
const textArguments: JsonSchema = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

export function decodeTools(body: ChatBody): DecodedTools {
  const functions = body.functions ?? []
  const hasTools = (body.tools ?? []).length > 0
  const legacyField = functions.length > 0 ? 'functions' : body.function_call !== undefined ? 'function_call' : null
  if (hasTools && legacyField !== null) throw fieldError([legacyField], 'value', 'it excludes tools')
  if (legacyField !== null) return decodeLegacy(body, functions)
  const tools = decodeToolList(body.tools ?? [])
  return { tools, toolChoice: decodeToolChoice(body, tools), isLegacy: false }
}

function decodeLegacy(body: ChatBody, functions: readonly WireFunction[]): DecodedTools {
  const { tool_choice: choice } = body
  if (choice !== undefined && choice !== 'none' && choice !== 'auto') {
    throw fieldError(['tool_choice'], 'value', 'functions are chosen by function_call')
  }
  const tools = requireUniqueNames(
    functions.map((definition, index) => {
      const path = ['functions', index]
      return { tool: toFunctionTool(definition, path), path: [...path, 'name'] }
    }),
  )
  return { tools, toolChoice: decodeFunctionCall(body.function_call, tools), isLegacy: tools.length > 0 }
}

/** The older answer form has room for one call only. */
function decodeFunctionCall(choice: ChatBody['function_call'], tools: readonly Tool[]): ToolChoice {
  if (typeof choice === 'object') {
    requireKnown(choice.name, tools, ['function_call', 'name'])
    return { kind: 'named', name: choice.name, parallel: false }
  }
  if (choice !== undefined && choice !== 'none' && choice !== 'auto') {
    throw fieldError(['function_call'], 'value', 'expected "none", "auto" or the name of a function')
  }
  const kind = tools.length === 0 ? 'none' : (choice ?? 'auto')
  return { kind, parallel: false, allowed: null }
}

/**
 * Tools of other types are run by a vendor's server, not by the client. Agents send
 * them unasked, so they are dropped as long as a tool of the client's own remains.
 */
function decodeToolList(wireTools: readonly WireTool[]): Tool[] {
  const own: NamedTool[] = []
  for (const [index, wireTool] of wireTools.entries()) {
    const tool = decodeTool(wireTool, ['tools', index])
    if (tool !== null) own.push({ tool, path: ['tools', index, wireTool.type, 'name'] })
  }
  if (own.length === 0 && wireTools.length > 0) {
    throw fieldError(['tools', 0, 'type'], 'unsupported-value', 'no tools are run by this service')
  }
  return requireUniqueNames(own)
}

function decodeTool(tool: WireTool, path: ErrorPath): Tool | null {
  switch (tool.type) {
    case 'function':
      if (tool.function === undefined) throw fieldError([...path, 'function'], 'missing', '')
      return toFunctionTool(tool.function, [...path, 'function'])
    case 'custom': {
      if (tool.custom === undefined) throw fieldError([...path, 'custom'], 'missing', '')
      const { name, description, format } = tool.custom
      if (format?.type === 'grammar') {
        throw fieldError([...path, 'custom', 'format', 'type'], 'unsupported-value', 'expected "text"')
      }
      return {
        name,
        description: description ?? '',
        parameters: textArguments,
        isStrict: false,
        schemaPath: [...path, 'custom'],
        input: 'text',
      }
    }
    default:
      return null
  }
}

function toFunctionTool({ name, description, parameters, strict }: WireFunction, path: ErrorPath): Tool {
  if (parameters !== undefined && !mayBeObject(parameters['type']))
    throw fieldError([...path, 'parameters', 'type'], 'value', 'expected "object"')
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? noArguments,
    isStrict: strict ?? false,
    schemaPath: [...path, 'parameters'],
    input: 'json',
  }
}

const otherTypes = ['array', 'string', 'number', 'integer', 'boolean', 'null']

/** Arguments are named, so nothing but an object holds them. What is no type of JSON at all is read as if it were not there. */
function mayBeObject(type: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(type) && type.length > 0 ? type : [type]
  return types.some((one) => !otherTypes.includes(one as string))
}

function requireUniqueNames(tools: readonly NamedTool[]): Tool[] {
  const names = new Set<string>()
  for (const { tool, path } of tools) {
    if (names.has(tool.name)) {
      const message = wordFault(path, 'value', `the name ${tool.name} is used more than once`)
      throw new ApiError({ code: 'invalid-request', path, fault: 'value', detail: 'tool-name-conflict' }, message)
    }
    names.add(tool.name)
  }
  return tools.map(({ tool }) => tool)
}

function decodeToolChoice(body: ChatBody, tools: readonly Tool[]): ToolChoice {
  const { tool_choice: choice } = body
  const parallel = body.parallel_tool_calls ?? true
  if (typeof choice === 'object') return decodeObjectChoice(choice, tools, parallel)
  if (choice !== undefined && choice !== 'none' && choice !== 'auto' && choice !== 'required') {
    throw fieldError(['tool_choice'], 'value', 'expected "none", "auto", "required" or an object')
  }
  if (choice === 'required' && tools.length === 0) throw fieldError(['tool_choice'], 'value', 'there are no tools')
  const kind: FreeKind = tools.length === 0 ? 'none' : (choice ?? 'auto')
  return { kind, parallel, allowed: null }
}

function decodeObjectChoice(choice: ObjectChoice, tools: readonly Tool[], parallel: boolean): ToolChoice {
  if (choice.type !== 'allowed_tools') {
    return { kind: 'named', name: decodeReference(choice, tools, ['tool_choice']), parallel }
  }
  const path = ['tool_choice', 'allowed_tools']
  if (choice.allowed_tools === undefined) throw fieldError(path, 'missing', '')
  const { mode, tools: references } = choice.allowed_tools
  if (references.length === 0 && mode === 'required') throw fieldError([...path, 'tools'], 'value', 'expected a tool')
  const allowed = references.map((tool, index) => decodeReference(tool, tools, [...path, 'tools', index]))
  return { kind: mode, parallel, allowed }
}

function decodeReference(reference: WireToolReference, tools: readonly Tool[], path: ErrorPath): string {
  const { type } = reference
  if (type !== 'function' && type !== 'custom') {
    throw fieldError([...path, 'type'], 'unsupported-value', 'expected "function" or "custom"')
  }
  const named = reference[type]
  if (named === undefined) throw fieldError([...path, type], 'missing', '')
  const ofType = tools.filter(({ input }) => (input === 'text') === (type === 'custom'))
  requireKnown(named.name, ofType, [...path, type, 'name'])
  return named.name
}

function requireKnown(name: string, tools: readonly Tool[], path: ErrorPath): void {
  if (!tools.some((tool) => tool.name === name)) throw fieldError(path, 'value', 'no tool has this name')
}
