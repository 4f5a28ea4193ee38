// Bare keys (Gemma, FunctionGemma), a call as an object with quotes of its own: `call:name{key:<|"|>value<|"|>,other:true}`.
// The quotes and the markers around a call are read from a render. Such a template sorts the keys, and so does this. Some
// lose nulls, but print arguments that are given as text unchanged: for them the text is written here.

import {
  choicesOf,
  literal,
  memberList,
  membersOf,
  sequence,
  textThrough,
  type GrammarBuilder,
  type GrammarTool,
} from '../tool-format/grammar-parts.ts'
import { isStringOnly } from '../tool-format/parsing/spell-value.ts'
import type { OutputSource, Reading } from '../tool-format/parsing/tool-call-part.ts'
import { callTurn, type ProbeCall, sentinelCalls, sentinels, tryRender, user } from '../tool-format/probes.ts'
import {
  type Enclosure,
  plainFrame,
  type RenderProbe,
  type TemplateToolMessage,
  type TextPlacement,
  type ToolFormat,
} from '../tool-format/tool-format.ts'
import type { KnownNotation } from './known-notation.ts'
import { readListedCalls } from './listed-calls.ts'

/** The marks of one template. */
type Marks = Enclosure & { readonly quote: string }

/** Of templates that show no arguments but those that are given as text. */
const gemma: Marks = { quote: '<|"|>', open: '<|tool_call>call:', close: '<tool_call|>' }

export const bareKeys: KnownNotation = {
  usual: formatWith(gemma, 'own-notation', 'own'),
  detect,
  read,
  writeTurn,
  grammar: { trigger: ({ section }) => section.open, section: () => ({ open: '', close: '' }), call: callBody },
}

function detect(render: RenderProbe): ToolFormat | null {
  const [probe] = sentinelCalls({ kind: 'any' })
  const show = (form: 'object' | 'text') => tryRender(render, [user, callTurn([probe], form, sentinels.text)])
  const marks = findMarks(show('object'), probe) ?? gemma
  const forms = [
    { form: 'text', argumentsAs: 'own-notation', inside: JSON.stringify(probe.arguments) },
    { form: 'object', argumentsAs: 'object', inside: writeMembers(probe.arguments, marks.quote) },
  ] as const
  for (const { form, argumentsAs, inside } of forms) {
    const rendered = show(form)
    const start = rendered?.indexOf(`${marks.open}${probe.name}{${inside}}${marks.close}`) ?? -1
    if (rendered === null || start === -1) continue
    const text = rendered.lastIndexOf(sentinels.text)
    return formatWith(marks, argumentsAs, text === -1 ? 'own' : text < start ? 'before' : 'after')
  }
  return null
}

/** What stands around a call and around its values, where their keys stand bare between braces. */
function findMarks(rendered: string | null, { name, arguments: given }: ProbeCall): Marks | null {
  const [[keyOne, valueOne] = [], [keyTwo, valueTwo] = []] = Object.entries(given)
  const members = String.raw`${keyOne}:(?<quote>[^\s"'{}]+)${valueOne}\k<quote>,${keyTwo}:\k<quote>${valueTwo}\k<quote>`
  const marker = String.raw`<[^\s<>]+>`
  const call = new RegExp(String.raw`(?<open>${marker}\w*:?)${name}\{${members}\}(?<close>${marker})`, 'u')
  const { quote, open, close } = call.exec(rendered ?? '')?.groups ?? {}
  return quote === undefined || open === undefined || close === undefined ? null : { quote, open, close }
}

function formatWith(
  { quote, ...section }: Marks,
  argumentsAs: 'own-notation' | 'object',
  textBesideCalls: TextPlacement,
): ToolFormat {
  return {
    notation: { kind: 'bare-keys', quote },
    section,
    separator: '',
    callsMax: null,
    history: { argumentsAs, takesTextArguments: false, ids: { kind: 'any' }, textBesideCalls, toolMessages: 'several' },
    endsTurn: false,
    ...plainFrame,
  }
}

function quoteOf({ notation }: ToolFormat): string {
  return notation.kind === 'bare-keys' ? notation.quote : gemma.quote
}

function read(source: OutputSource, format: ToolFormat): Reading {
  const { section } = format
  const quotes = [
    { mark: quoteOf(format), escapes: false },
    { mark: '"', escapes: true },
  ]
  return readListedCalls(source, {
    open: section.open,
    bracket: '{',
    members: { dialect: { quotes }, close: '}', assign: ':' },
    separator: section.open,
    completedBy: section.close,
    // The model asks for the results with a marker of its own.
    closings: [section.close, '<|tool_response>', '<start_function_response>'],
  })
}

/** The template prints a text as it is, where it takes one. */
function writeTurn(message: TemplateToolMessage, format: ToolFormat): TemplateToolMessage {
  if (format.history.argumentsAs === 'object') return message
  const { tool_calls: calls = [], ...turn } = message
  const written = calls.map((one) => {
    const { name, arguments: given } = one.function
    return typeof given === 'string'
      ? one
      : { ...one, function: { name, arguments: writeMembers(given, quoteOf(format)) } }
  })
  return { ...turn, tool_calls: written }
}

/** The inside of the arguments' braces, which the template writes itself. */
function writeMembers(value: object, quote: string): string {
  return Object.entries(sortKeys(value))
    .map(([key, member]) => `${key}:${writeValue(member, quote)}`)
    .join(',')
}

function writeValue(value: unknown, quote: string): string {
  if (typeof value === 'string') return quote + value + quote
  if (Array.isArray(value)) return `[${value.map((item) => writeValue(item, quote)).join(',')}]`
  if (typeof value === 'object' && value !== null) return `{${writeMembers(value, quote)}}`
  return JSON.stringify(value) ?? 'null'
}

/** Keys come in the order in which the templates show them to the model, which is not the schema's. */
function callBody(builder: GrammarBuilder, given: GrammarTool, format: ToolFormat): string {
  const quote = quoteOf(format)
  const { section } = format
  const members = membersOf(withSortedKeys(given), (name, schema) => {
    const text = choicesOf(schema)
      ?.map((choice) => literal(quote + choice + quote))
      .join(' | ')
    if (text !== undefined) return sequence(literal(`${name}:`), `(${text})`)
    const value = isStringOnly(schema)
      ? sequence(literal(quote), given.compileText(schema, { name, close: quote, guard: null }) ?? textThrough(quote))
      : given.compileSchema(schema, name)
    return sequence(literal(`${name}:`), value)
  })
  const head = literal(`${section.open}${given.tool.name}{`)
  return sequence(head, memberList(builder, members, ','), literal(`}${section.close}`))
}

function withSortedKeys(given: GrammarTool): GrammarTool {
  const { properties, ...schema } = given.tool.parameters
  if (typeof properties !== 'object' || properties === null) return given
  const tool = { ...given.tool, parameters: { ...schema, properties: sortKeys(properties) } }
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(given), tool: { value: tool } },
  ) as GrammarTool
}

/** As Jinja's `dictsort` does, which takes no notice of case. */
function sortKeys(value: object): object {
  const entries = Object.entries(value).map(([key, member]) => ({
    key,
    member: member as unknown,
    rank: key.toLowerCase(),
  }))
  const sorted = entries.toSorted((left, right) => (left.rank < right.rank ? -1 : left.rank > right.rank ? 1 : 0))
  return Object.fromEntries(sorted.map(({ key, member }) => [key, member]))
}
