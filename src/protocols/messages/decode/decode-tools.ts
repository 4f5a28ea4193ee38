import { ApiError } from '../../../core/error.ts'
import type { JsonSchema, Tool, ToolChoice } from '../../../core/generation.ts'
import { fieldError, shorten, wordFault } from '../error.ts'
import { decodeMark } from './cache-marks.ts'
import { addMark } from './carry-marks.ts'
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
  const tools: Tool[] = []
  for (const [index, tool] of decoded.entries()) {
    const last = tools.at(-1)
    // What is kept up to a tool that is left out ends at the one before it; before the first one stands nothing.
    if (tool !== null) tools.push(tool)
    else if (last !== undefined) tools[tools.length - 1] = addMark(last, decodeMark(wire[index] ?? {}))
  }
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
      ...decodeMark(wire),
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
  return { name, description, parameters, isStrict, schemaPath, input: 'json', ...decodeMark(wire) }
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

// Tools that a client names by type only and runs itself. A model of this
// service learns of them as of any other function, so they get a schema here.

export type ClientRunTool = { readonly name: string; readonly description: string; readonly parameters: JsonSchema }

export function findClientRunTool(type: string): ClientRunTool | null {
  return families.find(({ pattern }) => pattern.test(type))?.tool(type) ?? null
}

const families: readonly { readonly pattern: RegExp; readonly tool: (type: string) => ClientRunTool }[] = [
  { pattern: /^bash_\d{8}$/, tool: () => bash },
  { pattern: /^text_editor_\d{8}$/, tool: textEditor },
  { pattern: /^memory_\d{8}$/, tool: () => memory },
]

const text = { type: 'string' }
const lineNumber = { type: 'integer', minimum: 0 }
const viewRange = {
  type: 'array',
  items: { type: 'integer' },
  minItems: 2,
  maxItems: 2,
  description: 'First and last line to show; -1 as the last line means the end of the file.',
}

const bash: ClientRunTool = {
  name: 'bash',
  description: 'Runs a command in a shell session that keeps its state between calls.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...text, description: 'The command to run.' },
      restart: { type: 'boolean', description: 'Starts the session anew instead of running a command.' },
    },
  },
}

const editProperties = {
  file_text: { ...text, description: 'Content of the file, for create.' },
  old_str: { ...text, description: 'Text to replace, for str_replace; it must occur exactly once.' },
  new_str: { ...text, description: 'Text to put in its place, for str_replace.' },
  insert_line: { ...lineNumber, description: 'Line after which to insert, for insert; 0 is the beginning.' },
  insert_text: { ...text, description: 'Text to insert, for insert.' },
  view_range: viewRange,
}

function textEditor(type: string): ClientRunTool {
  // The name changed with the versions of 2025-04 and later, which also lost the command to undo.
  const isEarly = type < 'text_editor_20250429'
  const commands = ['view', 'create', 'str_replace', 'insert', ...(isEarly ? ['undo_edit'] : [])]
  return {
    name: isEarly ? 'str_replace_editor' : 'str_replace_based_edit_tool',
    description: 'Shows, creates and edits text files.',
    parameters: {
      type: 'object',
      properties: {
        command: { ...text, enum: commands },
        path: { ...text, description: 'Path of the file or folder.' },
        ...editProperties,
      },
      required: ['command', 'path'],
    },
  }
}

const memory: ClientRunTool = {
  name: 'memory',
  description: 'Keeps notes between conversations as files under /memories. Look there before starting a task.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...text, enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: { ...text, description: 'Path of the file or folder; not used by rename.' },
      ...editProperties,
      old_path: { ...text, description: 'Present path, for rename.' },
      new_path: { ...text, description: 'New path, for rename.' },
    },
    required: ['command'],
  },
}
