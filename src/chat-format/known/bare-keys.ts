// Bare keys (Gemma), a call as an object with quotes of its own: `call:name{key:<|"|>value<|"|>,other:true}`.
// Such a template sorts the keys, and so does this. The first ones lose nulls, but print arguments that are
// given as text unchanged: for them the text is written here. Later ones keep nulls and refuse texts.

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
import { callTurn, sentinelCalls, sentinels, tryRender, user } from '../tool-format/probes.ts'
import {
  plainFrame,
  type RenderProbe,
  type TemplateToolMessage,
  type TextPlacement,
  type ToolFormat,
} from '../tool-format/tool-format.ts'
import type { KnownNotation } from './known-notation.ts'
import { readListedCalls } from './listed-calls.ts'

const quote = '<|"|>'
const call = { open: '<|tool_call>call:', close: '<tool_call|>' }

export const bareKeys: KnownNotation = {
  detect,
  read,
  writeTurn,
  grammar: { trigger: () => call.open, section: () => ({ open: '', close: '' }), call: callBody },
}

function detect(render: RenderProbe): ToolFormat | null {
  const [probe] = sentinelCalls({ kind: 'any' })
  const forms = [
    { form: 'text', argumentsAs: 'own-notation', inside: JSON.stringify(probe.arguments) },
    { form: 'object', argumentsAs: 'object', inside: writeMembers(probe.arguments) },
  ] as const
  for (const { form, argumentsAs, inside } of forms) {
    const rendered = tryRender(render, [user, callTurn([probe], form, sentinels.text)])
    const start = rendered?.indexOf(`${call.open}${probe.name}{${inside}}${call.close}`) ?? -1
    if (rendered === null || start === -1) continue
    const text = rendered.lastIndexOf(sentinels.text)
    return formatWith(argumentsAs, text === -1 ? 'own' : text < start ? 'before' : 'after')
  }
  return null
}

function formatWith(argumentsAs: 'own-notation' | 'object', textBesideCalls: TextPlacement): ToolFormat {
  return {
    notation: { kind: 'bare-keys' },
    section: call,
    separator: '',
    callsMax: null,
    history: { argumentsAs, takesTextArguments: false, ids: { kind: 'any' }, textBesideCalls, toolMessages: 'several' },
    endsTurn: false,
    ...plainFrame,
  }
}

function read(source: OutputSource): Reading {
  const quotes = [
    { mark: quote, escapes: false },
    { mark: '"', escapes: true },
  ]
  return readListedCalls(source, {
    open: call.open,
    bracket: '{',
    members: { dialect: { quotes }, close: '}', assign: ':' },
    separator: call.open,
    completedBy: call.close,
    // The model asks for the results with a marker of its own.
    closings: [call.close, '<|tool_response>'],
  })
}

/** The template prints a text as it is, where it takes one. */
function writeTurn(message: TemplateToolMessage, { history }: ToolFormat): TemplateToolMessage {
  if (history.argumentsAs === 'object') return message
  const { tool_calls: calls = [], ...turn } = message
  const written = calls.map((one) => {
    const { name, arguments: given } = one.function
    return typeof given === 'string' ? one : { ...one, function: { name, arguments: writeMembers(given) } }
  })
  return { ...turn, tool_calls: written }
}

/** The inside of the arguments' braces, which the template writes itself. */
function writeMembers(value: object): string {
  return Object.entries(sortKeys(value))
    .map(([key, member]) => `${key}:${writeValue(member)}`)
    .join(',')
}

function writeValue(value: unknown): string {
  if (typeof value === 'string') return quote + value + quote
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  if (typeof value === 'object' && value !== null) return `{${writeMembers(value)}}`
  return JSON.stringify(value) ?? 'null'
}

/** Keys come in the order in which the templates show them to the model, which is not the schema's. */
function callBody(builder: GrammarBuilder, given: GrammarTool): string {
  const members = membersOf(withSortedKeys(given), (name, schema) => {
    const text = choicesOf(schema)
      ?.map((choice) => literal(builder, quote + choice + quote))
      .join(' | ')
    if (text !== undefined) return sequence(literal(builder, `${name}:`), `(${text})`)
    const value = isStringOnly(schema)
      ? sequence(
          literal(builder, quote),
          given.compileText(schema, { name, close: quote, guard: null }) ?? textThrough(quote),
        )
      : given.compileSchema(schema, name)
    return sequence(literal(builder, `${name}:`), value)
  })
  const head = literal(builder, `${call.open}${given.tool.name}{`)
  return sequence(head, memberList(builder, members, ','), literal(builder, `}${call.close}`))
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
