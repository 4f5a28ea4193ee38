// Calls as a list of Python calls: `[name(key="value", other=True), second()]`.
// Templates that use it print a turn's text and nothing else, so there is no
// probe that could show the notation; what gives it away is the markers around
// the list of tools.

import type { OutputSource, Reading } from '../tool-format/parsing/tool-call-part.ts'
import type { TemplateToolCall, ToolFormat } from '../tool-format/tool-format.ts'
import { readListedCalls } from './listed-calls.ts'

const section = { open: '<|tool_call_start|>[', close: ']<|tool_call_end|>' }

export const pythonicFormat: ToolFormat = {
  notation: { kind: 'pythonic' },
  section,
  separator: ', ',
  callsMax: null,
  history: {
    argumentsAs: 'own-notation',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'before',
    toolMessages: 'several',
  },
  endsTurn: true,
}

/** `rendered` is a conversation with tools. */
export function isPythonic(rendered: string): boolean {
  return rendered.includes('<|tool_list_start|>') && rendered.includes('<|tool_list_end|>')
}

export function readPythonic(source: OutputSource): Reading {
  const quotes = [
    { mark: '"', escapes: true },
    { mark: "'", escapes: true },
  ]
  return readListedCalls(source, {
    open: section.open,
    bracket: '(',
    members: { dialect: { quotes }, close: ')', assign: '=' },
    separator: ',',
    completedBy: ')',
    closings: [section.close, ']', '<|tool_call_end|>'],
  })
}

export function writePythonic(calls: readonly TemplateToolCall[]): string {
  const written = calls.map(({ function: { name, arguments: given } }) => {
    const members = Object.entries(typeof given === 'object' ? given : { arguments: given }).map(
      ([key, value]) => `${key}=${writeValue(value)}`,
    )
    return `${name}(${members.join(', ')})`
  })
  return section.open + written.join(', ') + section.close
}

function writeValue(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${writeValue(member)}`)
  return `{${members.join(', ')}}`
}
