import type { JsonSchema, Tool } from '../../../core/generation.ts'
import type { DerivedFormat } from './call-head.ts'
import { firstMatch, matchLiteral, skipSpace, type Match } from './match-literal.ts'
import { drop, pushArguments, type OutputSource, type Reading } from './tool-call-part.ts'
import { isStringOnly, spellValue } from './spell-value.ts'
import type { TaggedNotation } from '../tool-format.ts'

type TaggedFormat = DerivedFormat & { readonly notation: TaggedNotation }

/** Reads arguments that stand in tags, as JSON; false where the output ends before the call does. */
export function* readTaggedArguments(source: OutputSource, format: TaggedFormat, tool: Tool | null): Reading<boolean> {
  const { parameter, close } = format.notation
  let count = 0
  for (;;) {
    drop(source, skipSpace(source.text, 0))
    const opened = matchLiteral(source.text, 0, parameter.open.trim())
    const closed = matchLiteral(source.text, 0, close.trim())
    if (typeof opened === 'number') {
      drop(source, opened)
      const key = yield* readKey(source, parameter.middle)
      if (key === null) return false
      pushArguments(source, `${count === 0 ? '{' : ', '}${JSON.stringify(key)}: `)
      count++
      if (!(yield* readValue(source, format, propertySchema(tool, key)))) return false
    } else if (typeof closed === 'number') {
      drop(source, closed)
      pushArguments(source, count === 0 ? '{}' : '}')
      return true
    } else if (source.hasEnded) return false
    else if (source.text === '' || opened === 'more' || closed === 'more') yield
    else drop(source, 1)
  }
}

function* readKey(source: OutputSource, middle: string): Reading<string | null> {
  const marker = middle.trim()
  for (;;) {
    const end = source.text.indexOf(marker)
    if (end !== -1) {
      const key = source.text.slice(0, end).trim()
      drop(source, end + marker.length)
      return key
    }
    if (source.hasEnded) return null
    yield
  }
}

/**
 * Reads one value up to its closing tag. A closing tag counts only when another
 * argument or the end of the call follows, so a value may quote one.
 */
function* readValue(source: OutputSource, format: TaggedFormat, schema: JsonSchema | null): Reading<boolean> {
  const { parameter } = format.notation
  const lead = parameter.middle.slice(parameter.middle.trimEnd().length)
  const tail = parameter.close.slice(0, parameter.close.length - parameter.close.trimStart().length)
  while (source.text.length < lead.length && lead.startsWith(source.text) && !source.hasEnded) yield
  if (source.text.startsWith(lead)) drop(source, lead.length)
  const isText = isStringOnly(schema)
  let text = ''
  const take = (length: number) => {
    const taken = source.text.slice(0, length)
    drop(source, length)
    if (isText) pushArguments(source, JSON.stringify(taken).slice(1, -1))
    else text += taken
  }
  if (isText) pushArguments(source, '"')
  for (;;) {
    const { valueEnd, end } = findClose(source, format, tail)
    take(valueEnd)
    if (end !== null) {
      drop(source, end - valueEnd)
      pushArguments(source, isText ? '"' : spellValue(text, schema))
      return true
    }
    if (source.hasEnded) return false
    yield
  }
}

/** How much of the value is certain, and where its closing tag ends if that is certain too. */
function findClose(source: OutputSource, format: TaggedFormat, tail: string): { valueEnd: number; end: number | null } {
  const { text } = source
  const marker = format.notation.parameter.close.trim()
  for (let index = text.indexOf(marker[0] ?? ''); index !== -1; index = text.indexOf(marker[0] ?? '', index + 1)) {
    const end = matchLiteral(text, index, marker)
    if (end === null) continue
    const follows = end === 'more' ? 'more' : matchFollowing(format, text, end)
    if (follows === null) continue
    const valueEnd = text.slice(0, index).endsWith(tail) ? index - tail.length : index
    if (end !== 'more' && (typeof follows === 'number' || source.hasEnded)) return { valueEnd, end }
    return { valueEnd: source.hasEnded ? text.length : valueEnd, end: null }
  }
  return { valueEnd: source.hasEnded ? text.length : text.length - heldLength(text, tail), end: null }
}

function matchFollowing({ notation, section }: TaggedFormat, text: string, at: number): Match {
  const { open, separator } = notation.parameter
  const literals = [separator + open, open, notation.close, section.close]
  const position = skipSpace(text, at)
  const known = literals.map((literal) => literal.trim()).filter((literal) => literal !== '')
  return firstMatch(known.map((literal) => matchLiteral(text, position, literal)))
}

/** The part of the white space before a closing tag that the text already ends with. */
function heldLength(text: string, tail: string): number {
  for (let length = Math.min(tail.length, text.length); length > 0; length--) {
    if (text.endsWith(tail.slice(0, length))) return length
  }
  return 0
}

function propertySchema(tool: Tool | null, key: string): JsonSchema | null {
  const properties = tool?.parameters['properties']
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, key)) return null
  const schema: unknown = (properties as Record<string, unknown>)[key]
  return typeof schema === 'object' && schema !== null ? (schema as JsonSchema) : null
}
