import type { JsonSchema } from '../../../core/generation.ts'

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
