import type { JsonSchema, Tool } from '../../core/generation.ts'
import { isKnown, knownNotations } from '../known/notations.ts'
import {
  choicesOf,
  type GrammarBuilder,
  type GrammarTool,
  literal,
  memberList,
  membersOf,
  sequence,
  textThrough,
} from './grammar-parts.ts'
import { literalOf } from './parsing/match-literal.ts'
import {
  type CallPiece,
  type DerivedNotation,
  type IdShape,
  indexSlot,
  type JsonType,
  nameSlot,
  type TaggedParameter,
  type ToolFormat,
  type ValueFrame,
} from './tool-format.ts'
import { isStringOnly } from './parsing/spell-value.ts'

export type CallCount = {
  readonly minCalls: 0 | 1
  readonly maxCalls: 1 | null
  /** Where the first call goes on from: all of it is to come, the prompt has begun it, or its trigger was written. */
  readonly begins?: 'whole' | 'behind-prompt' | 'at-trigger'
}

/** More than anyone asks for at once. A small model that cannot stop would otherwise fill its whole window with calls. */
const callsMost = 64

/** A model that has lost its way would write letters and digits without end. */
const idLengthMost = 64
const indexBody = '[0-9]{1,3}'

/** A rule for a whole section of calls, from its first marker to its last, as the template writes it. */
export function toolCallGrammar(
  builder: GrammarBuilder,
  format: ToolFormat,
  tools: readonly GrammarTool[],
  { minCalls, maxCalls, begins = 'whole' }: CallCount,
): string {
  const anyCall = callRules(builder, format, tools, 'whole')
  const isCut = begins === 'behind-prompt' ? format.lead !== '' : begins === 'at-trigger' && !hasOwnTrigger(format)
  const firstCall = isCut ? callRules(builder, format, tools, begins) : anyCall
  const isSingle = maxCalls === 1 || format.callsMax === 1
  const next = sequence(literal(separatorOf(format)), anyCall)
  const more = isSingle ? '' : ` (${next}){0,${callsMost - 1}}`
  const { notation } = format
  const { open, close } = isKnown(notation) ? knownNotations[notation.kind].grammar.section(format) : format.section
  const section = builder.rule('calls', sequence(literal(open.trimStart()), firstCall + more, literal(close)))
  return minCalls === 1 ? section : builder.rule('maybe-calls', `${section}?`)
}

type Beginning = NonNullable<CallCount['begins']>

function callRules(
  builder: GrammarBuilder,
  format: ToolFormat,
  tools: readonly GrammarTool[],
  begins: Beginning,
): string {
  return builder.rule('call', tools.map((tool) => callRule(builder, format, { tool, begins })).join(' | '))
}

/** White space in front of each call stands between two, and not in front of the first. */
function separatorOf({ section, separator, notation }: ToolFormat): string {
  if (isKnown(notation) || section.open !== '') return separator
  return separator + notation.open.slice(0, notation.open.length - notation.open.trimStart().length)
}

/**
 * The texts of which one begins every section. A grammar that is switched on
 * by them reads them too; any other text before them is free.
 *
 * Where a plain answer begins like a call, it is what stands behind the name that tells them apart,
 * or the name itself.
 */
export function triggers(format: ToolFormat, tools: readonly Tool[] = []): string[] {
  const { notation, section } = format
  if (isKnown(notation)) return [knownNotations[notation.kind].grammar.trigger(format)]
  if (hasOwnTrigger(format)) return [openingOf(format)]
  const behindName = triggerBehindName(notation)
  if (behindName !== null) return [behindName]
  // A name alone may stand in any answer; behind the mark, of which the prompt may hold a part, and in front of a bracket
  // it does not.
  const bracket = notation.kind === 'tagged' ? '' : '{'
  const open = section.open.trimStart() + openOf(notation.open, format)
  const named = tools.map(({ name }) => headOf(notation, { name, open }) + bracket)
  return named.length === 0 ? [openingOf(format)] : named
}

/** What of a trigger the prompt has written already, and white space behind it. */
export function triggerLead(format: ToolFormat): string {
  const { lead, notation, section } = format
  if (isKnown(notation) || hasOwnTrigger(format)) return ''
  const open = section.open.trimStart() + openOf(notation.open, format)
  return open.trimEnd() === lead ? open : lead
}

/** The marker that a section begins with, up to its first white space, which a model is free to write otherwise. */
function openingOf({ notation, section }: ToolFormat): string {
  const [first] = 'pieces' in notation ? notation.pieces : []
  const lead = first?.kind === 'literal' ? first.text : ''
  const opening = section.open + ('open' in notation ? notation.open : '')
  return (opening.trim() === '' ? lead : opening).trim().split(/\s/u)[0] ?? ''
}

/** Whether a marker begins each call; else the name of a tool does, where a plain answer begins alike. */
export function hasOwnTrigger(format: ToolFormat): boolean {
  return isKnown(format.notation) || format.textOpen === '' || !format.textOpen.startsWith(openingOf(format))
}

/** The markup between a name and its repetition. */
function triggerBehindName(notation: DerivedNotation): string | null {
  if (notation.kind !== 'tagged' || !notation.nameEnd.includes(nameSlot)) return null
  const [marker = ''] = notation.nameEnd.split(nameSlot)[0]?.trim().split(/\s/u) ?? []
  return /\p{L}/u.test(marker) ? marker : null
}

/** What stands in front of the first part of a call that is not known beforehand. */
function headOf(notation: DerivedNotation, { name, open }: { readonly name: string; readonly open: string }): string {
  if (notation.kind === 'tagged') return open + name + (literalOf(notation.nameEnd, name).split(indexSlot)[0] ?? '')
  let head = open
  for (const piece of notation.pieces) {
    if (piece.kind !== 'literal' && piece.kind !== 'name') break
    head += piece.kind === 'literal' ? piece.text : name
  }
  return head
}

type Called = { readonly tool: GrammarTool; readonly begins: Beginning }

function callRule(builder: GrammarBuilder, format: ToolFormat, { tool, begins }: Called): string {
  const { notation } = format
  const body = isKnown(notation)
    ? knownNotations[notation.kind].grammar.call(builder, tool, format)
    : derivedCall(builder, { ...format, notation }, { tool, begins })
  return builder.rule('tool-call', body)
}

type DerivedFormat = ToolFormat & { readonly notation: DerivedNotation }

function derivedCall(builder: GrammarBuilder, format: DerivedFormat, { tool: given, begins }: Called): string {
  const { notation } = format
  const { name } = given.tool
  const whole = headOf(notation, { name, open: openOf(notation.open, format) })
  const head = literal(whole.slice(writtenLength(format, { whole, begins })))
  switch (notation.kind) {
    case 'envelope':
    case 'marked': {
      const rest = notation.pieces.findIndex(({ kind }) => kind !== 'literal' && kind !== 'name')
      const pieces = notation.pieces.slice(rest).map((piece) => pieceBody(piece, given, format.history.ids))
      return sequence(head, ...pieces, literal(notation.close))
    }
    case 'tagged': {
      const { parameter, close } = notation
      const members = membersOf(given, (key, schema) => taggedMember(builder, parameter, { name: key, schema, given }))
      const numbered = literalOf(notation.nameEnd, name)
        .split(indexSlot)
        .slice(1)
        .flatMap((part) => [indexBody, literal(part)])
      return sequence(head, ...numbered, memberList(builder, members, parameter.separator), literal(close))
    }
  }
}

type Head = { readonly whole: string; readonly begins: Beginning }

/** How much of a call's head is there before its grammar begins. */
function writtenLength(format: DerivedFormat, { whole, begins }: Head): number {
  if (begins === 'whole') return 0
  if (begins === 'behind-prompt') return whole.startsWith(format.lead) ? format.lead.length : 0
  const behindName = triggerBehindName(format.notation)
  return behindName === null ? 0 : Math.max(0, whole.indexOf(behindName))
}

/** The first call stands where the section begins, and triggers hold no white space before them. */
function openOf(open: string, { section }: ToolFormat): string {
  return section.open === '' ? open.trimStart() : open
}

function pieceBody(piece: CallPiece, given: GrammarTool, ids: IdShape): string {
  switch (piece.kind) {
    case 'literal':
      return literal(piece.text)
    case 'name':
      return literal(given.tool.name)
    case 'arguments':
      return given.argumentsRule
    case 'index':
      return indexBody
    case 'id':
      return ids.kind === 'alphanumeric' ? `[a-zA-Z0-9]{${ids.length}}` : `[a-zA-Z0-9_-]{1,${idLengthMost}}`
  }
}

type TaggedMember = { readonly name: string; readonly schema: JsonSchema; readonly given: GrammarTool }

/** The body of one argument in tags: its name, its value and what closes it. */
function taggedMember(builder: GrammarBuilder, parameter: TaggedParameter, member: TaggedMember): string {
  const { schema } = member
  if (isStringOnly(schema)) return framed(builder, parameter, { ...member, frame: parameter })
  if (Object.keys(parameter.typed).length === 0) return framed(builder, parameter, { ...member, frame: parameter })
  const forms = typedSchemas(parameter, schema).map((form) => framed(builder, parameter, { ...member, ...form }))
  return forms.length === 1 ? (forms[0] ?? '""') : `(${forms.join(' | ')})`
}

type Framed = TaggedMember & { readonly frame: ValueFrame }

function framed(builder: GrammarBuilder, parameter: TaggedParameter, { frame, ...member }: Framed): string {
  const open = literal(parameter.open + member.name + frame.middle)
  const close = literalOf(frame.close, member.name)
  if (!isStringOnly(member.schema)) {
    return sequence(open, elementsOf(builder, parameter, member), literal(close))
  }
  const choices = choicesOf(member.schema)?.map((choice) => literal(choice) || '""')
  if (choices !== undefined) return sequence(open, `(${choices.join(' | ')})`, literal(close))
  if (close.trim() !== '') {
    const guard = parameter.guard?.open ?? null
    const text = member.given.compileText(member.schema, { name: member.name, close, guard })
    if (text !== null) return sequence(open, text)
  }
  const end = close.slice(close.trimEnd().length)
  return sequence(open, stringThrough(builder, parameter, close.trim()), literal(end))
}

function stringThrough(builder: GrammarBuilder, { guard }: TaggedParameter, marker: string): string {
  const plain = builder.rule('free-text', textThrough(marker))
  if (guard === null) return plain
  const guarded = sequence(literal(guard.open), builder.rule('free-text', textThrough(guard.close + marker)))
  return `(${plain} | ${guarded})`
}

/** A value that is no plain text: JSON, or the elements that the notation writes lists and objects as. */
function elementsOf(builder: GrammarBuilder, parameter: TaggedParameter, member: TaggedMember): string {
  const { schema, given, name } = member
  const { itemName } = parameter
  if (itemName !== null && schema['type'] === 'array' && isSchema(schema['items'])) {
    return `(${taggedMember(builder, parameter, { name: itemName, schema: schema['items'], given })})*`
  }
  if (itemName !== null && schema['type'] === 'object' && isSchema(schema['properties'])) {
    const members = membersOf({ ...given, tool: { ...given.tool, parameters: schema } }, (key, one) =>
      taggedMember(builder, parameter, { name: key, schema: one, given }),
    )
    return memberList(builder, members, parameter.separator) || '""'
  }
  return given.compileSchema(schema, name)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The parts of a schema by what stands around their values. */
function typedSchemas(parameter: TaggedParameter, schema: JsonSchema): { frame: ValueFrame; schema: JsonSchema }[] {
  const given = schema['type']
  const types = (Array.isArray(given) ? given : [given]).filter((type): type is JsonType => typeof type === 'string')
  const frameOf = (type: JsonType) => (type === 'string' ? parameter : parameter.typed[type]) ?? parameter
  if (types.length === 0) return [{ frame: Object.values(parameter.typed)[0] ?? parameter, schema }]
  return types.map((type) => ({ frame: frameOf(type), schema: { ...schema, type } }))
}
