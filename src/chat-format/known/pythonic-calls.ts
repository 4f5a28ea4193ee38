// Pythonic calls, a list as it would stand in a program: `[name(key="value", other=True), second()]`.
// Most templates that use it print such calls, so that the markers around them are derived. Some print a
// turn's text and nothing else; what gives those away is the markers around the list of tools. Either way
// the calls of a turn are written here, since templates quote without escaping.

import {
  literal,
  memberList,
  membersOf,
  sequence,
  type GrammarBuilder,
  type GrammarTool,
} from '../tool-format/grammar-parts.ts'
import type { OutputSource, Reading } from '../tool-format/parsing/tool-call-part.ts'
import { plainFrame, type RenderProbe, type TemplateToolMessage, type ToolFormat } from '../tool-format/tool-format.ts'
import type { KnownNotation } from './known-notation.ts'
import { readListedCalls } from './listed-calls.ts'

const marks = { start: '<|tool_call_start|>', end: '<|tool_call_end|>' }
const section = { open: `${marks.start}[`, close: `]${marks.end}` }

const format: ToolFormat = {
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
  ...plainFrame,
}

export const pythonicCalls: KnownNotation = {
  usual: format,
  detect,
  read,
  writeTurn,
  grammar: {
    trigger: ({ section: { open } }) => open.trim().split(/\s/u)[0] ?? '',
    section: (format) => format.section,
    call: callBody,
  },
}

function detect(_: RenderProbe, prompt: string): ToolFormat | null {
  return prompt.includes('<|tool_list_start|>') && prompt.includes('<|tool_list_end|>') ? format : null
}

/** The layout of pythonic calls between other markers. */
export function pythonicLayout(layout: Pick<ToolFormat, 'section' | 'separator' | 'endsTurn'>) {
  return { ...layout, notation: format.notation, callsMax: null }
}

function read(source: OutputSource, { section: { open, close }, separator }: ToolFormat): Reading {
  const quotes = [
    { mark: '"', escapes: true },
    { mark: "'", escapes: true },
  ]
  return readListedCalls(source, {
    open: open.trim(),
    bracket: '(',
    members: { dialect: { quotes }, close: ')', assign: '=' },
    separator: separator.trim(),
    completedBy: ')',
    closings: closingsOf(close.trim()),
  })
}

/** A model may leave out either half of a closing that is a bracket and a marker. */
function closingsOf(close: string): string[] {
  const halves = close.startsWith(']') ? [']', close.slice(1)] : []
  return [close, ...halves].filter((closing) => closing !== '')
}

/** The template prints a turn's text and nothing else, so the calls become a part of it. */
function writeTurn(
  { tool_calls: calls = [], ...turn }: TemplateToolMessage,
  { section: { open, close }, separator }: ToolFormat,
): TemplateToolMessage {
  const written = calls.map(({ function: { name, arguments: given } }) => {
    const members = Object.entries(typeof given === 'object' ? given : { arguments: given }).map(
      ([key, value]) => `${key}=${writeValue(value)}`,
    )
    return `${name}(${members.join(', ')})`
  })
  const text = open + written.join(separator) + close
  return { ...turn, content: [turn.content ?? '', text].filter(Boolean).join('\n') }
}

function writeValue(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${writeValue(member)}`)
  return `{${members.join(', ')}}`
}

function callBody(builder: GrammarBuilder, given: GrammarTool): string {
  const members = membersOf(given, (name, schema) => sequence(literal(`${name}=`), given.compileSchema(schema, name)))
  return sequence(literal(`${given.tool.name}(`), memberList(builder, members, ', '), literal(')'))
}
