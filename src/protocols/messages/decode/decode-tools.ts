import { ApiError } from '../../../core/error.ts'
import type { Tool, ToolChoice } from '../../../core/generation.ts'
import { decodeMark } from './cache-marks.ts'
import { findClientRunTool } from './client-run-tools.ts'
import { fieldError, shorten, wordFault } from '../field-error.ts'
import type { WireTool, WireToolChoice } from './tool-schema.ts'

/**
 * The tools the model will see.
 *
 * Deferred tools are among them from the start, so a tool that searches for
 * them is left out. A tool the server would have to run is left out as long as
 * the client has one of its own, and refused otherwise.
 */
export function decodeTools(wire: readonly WireTool[]): Tool[] {
  const decoded = wire.map(decodeTool)
  const tools = decoded.filter((tool) => tool !== null)
  if (tools.length === 0) refuseServerTool(wire)
  refuseDuplicates(decoded)
  return tools
}

const serverTool = /^(web_search|web_fetch|code_execution|advisor)_\d{8}$|^mcp_toolset$/
const searchTool = /^tool_search_tool_/
const seeingTool = /^(computer|browser)(_toolset|_use)?_\d{8}$/

function decodeTool(wire: WireTool, index: number): Tool | null {
  if (wire.type === undefined || wire.type === 'custom') return decodeCustomTool(wire, index)
  const known = findClientRunTool(wire.type)
  if (known !== null) {
    const { description, parameters } = known
    const { name = known.name } = wire
    checkName(name, index)
    return {
      name,
      description,
      parameters,
      isStrict: false,
      schemaPath: ['tools', index],
      input: 'json',
      ...decodeMark(wire.cache_control),
    }
  }
  const type = shorten(wire.type)
  if (seeingTool.test(wire.type))
    throw fieldError(['tools', index], 'unsupported-value', `tool type '${type}' needs image input`)
  // A schema of its own shows that the client runs this tool, which must not go missing.
  if (wire.input_schema !== undefined)
    throw fieldError(['tools', index, 'type'], 'unsupported-value', `tool type '${type}' is not known`)
  return null
}

function decodeCustomTool(wire: WireTool, index: number): Tool {
  const path = ['tools', index] as const
  const { name, input_schema: parameters, allowed_callers: callers } = wire
  if (name === undefined) throw fieldError([...path, 'name'], 'missing', 'Field required')
  checkName(name, index)
  if (parameters === undefined) throw fieldError([...path, 'input_schema'], 'missing', 'Field required')
  const type = parameters['type']
  if (type !== undefined && type !== 'object')
    throw fieldError([...path, 'input_schema', 'type'], 'value', "Input should be 'object'")
  if (callers !== undefined && !callers.includes('direct')) {
    throw fieldError(
      [...path, 'allowed_callers'],
      'unsupported-value',
      'tools that the model may not call directly are not supported',
    )
  }
  const { description = '', strict: isStrict = false } = wire
  const schemaPath = [...path, 'custom', 'input_schema']
  return { name, description, parameters, isStrict, schemaPath, input: 'json', ...decodeMark(wire.cache_control) }
}

function checkName(name: string, index: number): void {
  if (/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return
  throw fieldError(['tools', index, 'name'], 'value', "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
}

function refuseServerTool(wire: readonly WireTool[]): void {
  const index = wire.findIndex(({ type }) => type !== undefined && !searchTool.test(type))
  const type = wire[index]?.type
  if (type === undefined) return
  if (serverTool.test(type))
    throw fieldError(['tools', index], 'unsupported-value', `server tool '${type}' is not available`)
  throw fieldError(['tools', index, 'type'], 'unsupported-value', `tool type '${shorten(type)}' is not known`)
}

function refuseDuplicates(tools: readonly (Tool | null)[]): void {
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    if (tool === null) continue
    if (names.has(tool.name)) {
      const path = ['tools', index, 'name']
      const message = wordFault(path, 'value', 'Tool names must be unique')
      throw new ApiError({ code: 'invalid-request', path, fault: 'value', detail: 'tool-name-conflict' }, message)
    }
    names.add(tool.name)
  }
}

export function decodeToolChoice(wire: WireToolChoice | undefined, tools: readonly Tool[]): ToolChoice {
  const parallel = wire?.disable_parallel_tool_use !== true
  switch (wire?.type) {
    case undefined:
    case 'auto':
      return { kind: 'auto', parallel, allowed: null }
    case 'none':
      return { kind: 'none', parallel, allowed: null }
    case 'any':
      if (tools.length === 0) throw fieldError(['tool_choice'], 'value', "'any' needs at least one tool in tools")
      return { kind: 'required', parallel, allowed: null }
    case 'tool':
      if (!tools.some(({ name }) => name === wire.name)) {
        throw fieldError(['tool_choice', 'name'], 'value', `Tool '${shorten(wire.name)}' not found in provided tools`)
      }
      return { kind: 'named', name: wire.name, parallel }
  }
}
