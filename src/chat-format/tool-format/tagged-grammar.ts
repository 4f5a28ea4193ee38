import type { JsonSchema } from '../../core/generation.ts'
import {
  choicesOf,
  literal,
  memberList,
  membersOf,
  sequence,
  textThrough,
  type GrammarBuilder,
  type GrammarTool,
} from './grammar-parts.ts'
import { literalOf } from './parsing/match-literal.ts'
import { isStringOnly } from './parsing/spell-value.ts'
import type { JsonType, TaggedParameter, ValueFrame } from './tool-format.ts'

export type TaggedMember = { readonly name: string; readonly schema: JsonSchema; readonly given: GrammarTool }

/** The body of one argument in tags: its name, its value and what closes it. */
export function taggedMember(builder: GrammarBuilder, parameter: TaggedParameter, member: TaggedMember): string {
  const { schema } = member
  if (isStringOnly(schema)) return framed(builder, parameter, { ...member, frame: parameter })
  if (Object.keys(parameter.typed).length === 0) return framed(builder, parameter, { ...member, frame: parameter })
  const forms = typedSchemas(parameter, schema).map((form) => framed(builder, parameter, { ...member, ...form }))
  return forms.length === 1 ? (forms[0] ?? '""') : `(${forms.join(' | ')})`
}

type Framed = TaggedMember & { readonly frame: ValueFrame }

function framed(builder: GrammarBuilder, parameter: TaggedParameter, { frame, ...member }: Framed): string {
  const open = literal(builder, parameter.open + member.name + frame.middle)
  const close = literalOf(frame.close, member.name)
  if (!isStringOnly(member.schema)) {
    return sequence(open, elementsOf(builder, parameter, member), literal(builder, close))
  }
  const choices = choicesOf(member.schema)?.map((choice) => literal(builder, choice) || '""')
  if (choices !== undefined) return sequence(open, `(${choices.join(' | ')})`, literal(builder, close))
  if (close.trim() !== '') {
    const guard = parameter.guard?.open ?? null
    const text = member.given.compileText(member.schema, { name: member.name, close, guard })
    if (text !== null) return sequence(open, text)
  }
  const end = close.slice(close.trimEnd().length)
  return sequence(open, stringThrough(builder, parameter, close.trim()), literal(builder, end))
}

function stringThrough(builder: GrammarBuilder, { guard }: TaggedParameter, marker: string): string {
  const plain = builder.rule('free-text', textThrough(marker))
  if (guard === null) return plain
  const guarded = sequence(literal(builder, guard.open), builder.rule('free-text', textThrough(guard.close + marker)))
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
