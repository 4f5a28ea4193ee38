import type { JsonSchema, Tool } from '../../core/generation.ts'
import { characterClass, quote } from '../../lib/gbnf.ts'

/** The part of a grammar builder that is needed here. */
export interface GrammarBuilder {
  /** Adds a rule and gives its name, which may differ from the hint. */
  rule(hint: string, body: string): string
}

export type GrammarTool = {
  readonly tool: Tool
  /** The rule for the arguments as one JSON object; read only where a notation writes them so. */
  readonly argumentsRule: string
  /** Compiles the schema of the argument of this name; used where arguments are written one by one. */
  compileSchema(schema: JsonSchema, name: string): string
  /**
   * Compiles the text of an argument that stands bare, up to and with the text that closes it; `guard` is what the text
   * must not begin with. Null where its schema allows any text, or more than can be kept.
   */
  compileText(schema: JsonSchema, frame: TextFrame): string | null
}

export type TextFrame = { readonly name: string; readonly close: string; readonly guard: string | null }

/** A quoted GBNF literal; an empty text, which needs none, stays empty. */
export function literal(text: string): string {
  return text === '' ? '' : quote(text)
}

/** What follows one another; parts that are empty are left out. */
export function sequence(...parts: readonly string[]): string {
  const body = parts.filter((part) => part !== '').join(' ')
  return body === '' ? '""' : body
}

/** The body of one argument, and whether a call must have it. */
export type Member = { readonly body: string; readonly isRequired: boolean }

/** One member for each argument that the tool's schema declares. */
export function membersOf({ tool }: GrammarTool, body: (name: string, schema: JsonSchema) => string): Member[] {
  const { properties, required } = tool.parameters
  if (typeof properties !== 'object' || properties === null) return []
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(properties as Record<string, unknown>).map(([name, schema]) => {
    const known = typeof schema === 'object' && schema !== null ? (schema as JsonSchema) : {}
    return { body: body(name, known), isRequired: names.includes(name) }
  })
}

/** Members in the order of the schema, those that are not required left out at will. */
export function memberList(builder: GrammarBuilder, members: readonly Member[], separator: string): string {
  if (separator === '') return members.map(({ body, isRequired }) => (isRequired ? body : `(${body})?`)).join(' ')
  let rest = ''
  let restIsOptional = true
  // From the back: what may follow a member is a separator and any of the later ones.
  const later: string[] = []
  for (const { body, isRequired } of members.toReversed()) {
    const tail =
      rest === '' ? '' : restIsOptional ? `(${literal(separator)} ${rest})?` : `${literal(separator)} ${rest}`
    const own = builder.rule('members', sequence(body, tail))
    if (isRequired) later.length = 0
    later.push(own)
    restIsOptional = restIsOptional && !isRequired
    rest = builder.rule('members', later.toReversed().join(' | '))
  }
  return rest === '' ? '' : restIsOptional ? `${rest}?` : rest
}

/** The texts a string is limited to, or undefined where it may be any. */
export function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  const { enum: choices, const: constant } = schema
  const given: unknown = choices ?? (constant === undefined ? undefined : [constant])
  if (!Array.isArray(given) || given.length === 0) return undefined
  return given.every((choice) => typeof choice === 'string') ? given : undefined
}

/** GBNF for any text up to and including a marker, so that a grammar cannot run past it. */
export function textThrough(marker: string): string {
  const first = marker[0] ?? ''
  // A marker that repeats its first character would need a larger automaton; its beginning forbids enough.
  const repeat = marker.indexOf(first, 1)
  const stop = [...(repeat === -1 ? marker : marker.slice(0, repeat))]
  const rest = repeat === -1 ? '' : marker.slice(repeat)
  const [head = '', ...tail] = stop
  const begin = `${except([head])}* ${quote(head)}`
  // After the first character: either it comes again, or the marker goes on and then breaks off.
  const again = tail.map((_, index) => `${quote(tail.slice(0, index).join(''))} ${quote(head)}`)
  const broken = tail.map((next, index) => `${quote(tail.slice(0, index).join(''))} ${except([next, head])}`)
  const end = quote(tail.join('') + rest)
  if (tail.length === 0) return `${begin} ${end}`
  return `${begin} (${again.join(' | ')})* ((${broken.join(' | ')}) ${begin} (${again.join(' | ')})*)* ${end}`
}

function except(characters: readonly string[]): string {
  const points = new Set(characters.map((character) => character.codePointAt(0) ?? 0))
  return characterClass(
    [...points].toSorted((one, other) => one - other).map((point) => [point, point]),
    true,
  )
}
