import type { JsonSchema, Tool } from '../../core/generation.ts'
import { textThrough } from './free-text-rule.ts'
import { isStringOnly } from './parsing/spell-value.ts'
import type { CallNotation, CallPiece, IdShape, TaggedNotation, ToolFormat } from './tool-format.ts'

/** The part of a grammar builder that is needed here. Both give the text by which a rule can be used. */
export interface GrammarBuilder {
  /** Adds a rule and gives its name, which may differ from the hint. */
  rule(hint: string, body: string): string
  literal(text: string): string
}

export type GrammarTool = {
  readonly tool: Tool
  /** The rule for the arguments as one JSON object; read only where a notation writes them so. */
  readonly argumentsRule: string
  /** Compiles the schema of the argument of this name; used where arguments are written one by one. */
  compileSchema(schema: JsonSchema, name: string): string
}

export type CallCount = { readonly minCalls: 0 | 1; readonly maxCalls: 1 | null }

/** A rule for a whole section of calls, from its first marker to its last, as the template writes it. */
export function toolCallGrammar(
  builder: GrammarBuilder,
  format: ToolFormat,
  tools: readonly GrammarTool[],
  { minCalls, maxCalls }: CallCount,
): string {
  const anyCall = builder.rule('call', tools.map((tool) => callRule(builder, format, tool)).join(' | '))
  const isSingle = maxCalls === 1 || format.callsMax === 1
  const separator = format.notation.kind === 'bare-keys' ? '' : format.separator
  const more = isSingle ? '' : ` (${join(lit(builder, separator), anyCall)})*`
  const { open, close } = sectionOf(format)
  const section = builder.rule('calls', join(lit(builder, open.trimStart()), anyCall + more, lit(builder, close)))
  return minCalls === 1 ? section : builder.rule('maybe-calls', `${section}?`)
}

/**
 * The texts of which one begins every section. A grammar that is switched on
 * by them reads them too; any other text before them is free.
 */
export function triggers(format: ToolFormat): string[] {
  const { notation, section } = format
  switch (notation.kind) {
    case 'pythonic':
      return ['<|tool_call_start|>']
    case 'bare-keys':
    case 'channels':
      return [section.open]
    case 'envelope':
    case 'marked':
    case 'tagged': {
      const [first] = 'pieces' in notation ? notation.pieces : []
      const lead = first?.kind === 'literal' ? first.text : ''
      const opening = section.open + notation.open
      // A marker up to its first white space, which a model is free to write otherwise.
      return [(opening.trim() === '' ? lead : opening).trim().split(/\s/u)[0] ?? '']
    }
  }
}

/** In the notations written by hand the calls carry the markers themselves. */
function sectionOf({ notation, section }: ToolFormat) {
  return notation.kind === 'bare-keys' || notation.kind === 'channels' ? { open: '', close: '' } : section
}

function callRule(builder: GrammarBuilder, format: ToolFormat, grammarTool: GrammarTool): string {
  const { notation } = format
  return builder.rule('tool-call', callBody(builder, notation, grammarTool, format))
}

function callBody(builder: GrammarBuilder, notation: CallNotation, given: GrammarTool, format: ToolFormat): string {
  const { tool } = given
  switch (notation.kind) {
    case 'envelope':
    case 'marked': {
      const open = openOf(notation.open, format)
      const pieces = notation.pieces.map((piece) => pieceBody(builder, piece, given, format.history.ids))
      return join(lit(builder, open), ...pieces, lit(builder, notation.close))
    }
    case 'tagged': {
      const { open, nameEnd, parameter, close } = notation
      const members = memberList(given, (name, schema) => taggedMember(builder, notation, { name, schema, given }))
      const head = lit(builder, openOf(open, format) + tool.name + nameEnd)
      return join(head, list(builder, members, parameter.separator), lit(builder, close))
    }
    case 'pythonic': {
      const members = memberList(given, (name, schema) =>
        join(lit(builder, `${name}=`), given.compileSchema(schema, name)),
      )
      return join(lit(builder, `${tool.name}(`), list(builder, members, ', '), lit(builder, ')'))
    }
    case 'bare-keys': {
      const members = memberList(given, (name, schema) => {
        const text = choicesOf(schema)
          ?.map((choice) => lit(builder, `<|"|>${choice}<|"|>`))
          .join(' | ')
        if (text !== undefined) return join(lit(builder, `${name}:`), `(${text})`)
        const value = isStringOnly(schema)
          ? join(lit(builder, '<|"|>'), textThrough('<|"|>'))
          : given.compileSchema(schema, name)
        return join(lit(builder, `${name}:`), value)
      })
      const head = lit(builder, `${format.section.open}${tool.name}{`)
      return join(head, list(builder, members, ','), lit(builder, `}${format.section.close}`))
    }
    case 'channels':
      return join(
        lit(builder, `${format.section.open}${tool.name} <|constrain|>json<|message|>`),
        given.argumentsRule,
        lit(builder, format.section.close),
      )
  }
}

/** The first call stands where the section begins, and triggers hold no white space before them. */
function openOf(open: string, { section }: ToolFormat): string {
  return section.open === '' ? open.trimStart() : open
}

function pieceBody(builder: GrammarBuilder, piece: CallPiece, given: GrammarTool, ids: IdShape): string {
  switch (piece.kind) {
    case 'literal':
      return lit(builder, piece.text)
    case 'name':
      return lit(builder, given.tool.name)
    case 'arguments':
      return given.argumentsRule
    case 'index':
      return '[0-9]+'
    case 'id':
      return ids.kind === 'alphanumeric' ? `[a-zA-Z0-9]{${ids.length}}` : '[a-zA-Z0-9_-]+'
  }
}

type Member = { readonly body: string; readonly isRequired: boolean }

function memberList(given: GrammarTool, body: (name: string, schema: JsonSchema) => string): Member[] {
  const { properties, required } = given.tool.parameters
  if (typeof properties !== 'object' || properties === null) return []
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(properties as Record<string, unknown>).map(([name, schema]) => {
    const known = typeof schema === 'object' && schema !== null ? (schema as JsonSchema) : {}
    return { body: body(name, known), isRequired: names.includes(name) }
  })
}

/** Members in the order of the schema, those that are not required left out at will. */
function list(builder: GrammarBuilder, members: readonly Member[], separator: string): string {
  if (separator === '') return members.map(({ body, isRequired }) => (isRequired ? body : `(${body})?`)).join(' ')
  let rest = ''
  let restIsOptional = true
  // From the back: what may follow a member is a separator and any of the later ones.
  const later: string[] = []
  for (const { body, isRequired } of members.toReversed()) {
    const tail =
      rest === '' ? '' : restIsOptional ? `(${lit(builder, separator)} ${rest})?` : `${lit(builder, separator)} ${rest}`
    const own = builder.rule('members', join(body, tail))
    if (isRequired) later.length = 0
    later.push(own)
    restIsOptional = restIsOptional && !isRequired
    rest = builder.rule('members', later.toReversed().join(' | '))
  }
  return rest === '' ? '' : restIsOptional ? `${rest}?` : rest
}

function taggedMember(
  builder: GrammarBuilder,
  { parameter }: TaggedNotation,
  { name, schema, given }: { readonly name: string; readonly schema: JsonSchema; readonly given: GrammarTool },
): string {
  const open = lit(builder, parameter.open + name + parameter.middle)
  if (!isStringOnly(schema)) return join(open, given.compileSchema(schema, name), lit(builder, parameter.close))
  const choices = choicesOf(schema)?.map((choice) => lit(builder, choice) || '""')
  if (choices !== undefined) return join(open, `(${choices.join(' | ')})`, lit(builder, parameter.close))
  const text = builder.rule('free-text', textThrough(parameter.close.trim()))
  const end = parameter.close.slice(parameter.close.trimEnd().length)
  return join(open, text, lit(builder, end))
}

/** The texts a string is limited to, or undefined where it may be any. */
function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  const { enum: choices, const: constant } = schema
  const given: unknown = choices ?? (constant === undefined ? undefined : [constant])
  if (!Array.isArray(given) || given.length === 0) return undefined
  return given.every((choice) => typeof choice === 'string') ? given : undefined
}

function lit(builder: GrammarBuilder, text: string): string {
  return text === '' ? '' : builder.literal(text)
}

function join(...parts: readonly string[]): string {
  const body = parts.filter((part) => part !== '').join(' ')
  return body === '' ? '""' : body
}
