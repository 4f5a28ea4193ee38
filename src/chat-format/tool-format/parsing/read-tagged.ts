import type { JsonSchema, Tool } from '../../../core/generation.ts'
import type { DerivedFormat } from './call-head.ts'
import { firstMatch, literalOf, matchLiteral, skipSpace, type Match } from './match-literal.ts'
import { endOfJson } from './scan-json.ts'
import { spellElements } from './spell-elements.ts'
import { drop, pushArguments, type OutputSource, type Reading } from './tool-call-part.ts'
import { isStringOnly, spellValue } from './spell-value.ts'
import type { Enclosure, TaggedNotation, TaggedParameter, ValueFrame } from '../tool-format.ts'

type TaggedFormat = DerivedFormat & { readonly notation: TaggedNotation }

/** Reads arguments that stand in tags, as JSON; false where the output ends before the call does. */
export function* readTaggedArguments(source: OutputSource, format: TaggedFormat, tool: Tool | null): Reading<boolean> {
  for (let count = 0; ;) {
    drop(source, skipSpace(source.text, 0))
    const next = nextPart(source, format, count)
    if (next.kind === 'close') pushArguments(source, count === 0 ? '{}' : '}')
    drop(source, next.length)
    if (next.kind === 'close') return true
    if (next.kind === 'member') {
      if (!(yield* readMember(source, format, { tool, lead: count === 0 ? '{' : ', ' }))) return false
      count++
    } else if (next.kind === 'more') {
      if (source.hasEnded) return false
      yield
    }
  }
}

type NextPart = { readonly kind: 'close' | 'member' | 'separator' | 'more' | 'stray'; readonly length: number }

/** What the output goes on with. A character that belongs nowhere is passed over. */
function nextPart({ text, hasEnded }: OutputSource, { notation }: TaggedFormat, count: number): NextPart {
  const [open, separator] = [notation.parameter.open.trim(), notation.parameter.separator.trim()]
  const closed = matchLiteral(text, 0, notation.close.trim())
  if (typeof closed === 'number') return { kind: 'close', length: closed }
  const separated = separator === '' || count === 0 ? null : matchLiteral(text, 0, separator)
  if (typeof separated === 'number') return { kind: 'separator', length: separated }
  const opened = text === '' ? 'more' : matchLiteral(text, 0, open)
  // What may still become the end of the call could begin like an argument.
  if (typeof opened === 'number' && (closed !== 'more' || hasEnded)) return { kind: 'member', length: opened }
  const isOpen = text === '' || hasEnded || [closed, separated, opened].includes('more')
  return isOpen ? { kind: 'more', length: 0 } : { kind: 'stray', length: 1 }
}

type Member = { readonly tool: Tool | null; readonly lead: string }

function* readMember(source: OutputSource, format: TaggedFormat, { tool, lead }: Member): Reading<boolean> {
  const key = yield* readKey(source, framesOf(format.notation.parameter))
  if (key === null) return false
  pushArguments(source, `${lead}${JSON.stringify(key.name)}: `)
  const schema = propertySchema(tool, key.name)
  return yield* readValue(source, format, { ...key, schema })
}

/** Every text that may stand around a value, that of strings first. */
function framesOf(parameter: TaggedParameter): readonly ValueFrame[] {
  return [parameter, ...Object.values(parameter.typed)]
}

type Key = { readonly name: string; readonly frame: ValueFrame }

/** Reads up to the text that ends a name; of two that begin alike the longer one counts. */
function* readKey(source: OutputSource, frames: readonly ValueFrame[]): Reading<Key | null> {
  const marked = frames.toSorted((a, b) => b.middle.trim().length - a.middle.trim().length)
  for (;;) {
    for (let at = 0; at < source.text.length; at++) {
      const found = matchMiddle(source, marked, at)
      if (found === 'more') break
      if (found === null) continue
      const name = source.text.slice(0, at).trim()
      drop(source, found.end)
      return { name, frame: found.frame }
    }
    if (source.hasEnded) return null
    yield
  }
}

function matchMiddle({ text, hasEnded }: OutputSource, frames: readonly ValueFrame[], at: number) {
  for (const frame of frames) {
    const marker = frame.middle.trim()
    if (text.startsWith(marker, at)) return { frame, end: at + marker.length }
    if (!hasEnded && marker.startsWith(text.slice(at))) return 'more'
  }
  return null
}

type Value = Key & { readonly schema: JsonSchema | null }

/** What ends a value, and how it is written. */
type Ending = {
  readonly close: string
  /** White space in front of the closing tag that is not the value's. */
  readonly tail: string
}

/**
 * Reads one value up to its closing tag. A closing tag counts only when another
 * argument or the end of the call follows, so a value may quote one.
 */
function* readValue(source: OutputSource, format: TaggedFormat, { name, frame, schema }: Value): Reading<boolean> {
  const { parameter } = format.notation
  const lead = frame.middle.slice(frame.middle.trimEnd().length)
  while (source.text.length < lead.length && lead.startsWith(source.text) && !source.hasEnded) yield
  if (source.text.startsWith(lead)) drop(source, lead.length)
  if (frame.close.trim() === '') return yield* readBareValue(source, format, schema)
  const close = literalOf(frame.close, name)
  const guarded = yield* dropGuard(source, parameter.guard)
  const ending = { close: guarded + close.trim(), tail: close.slice(0, close.length - close.trimStart().length) }
  // Where other types stand between other texts, these are certain to be around a string.
  const isText = isStringOnly(schema) || guarded !== '' || (frame === parameter && hasOwnFrames(parameter))
  let text = ''
  const take = (length: number) => {
    const taken = source.text.slice(0, length)
    drop(source, length)
    if (isText) pushArguments(source, JSON.stringify(taken).slice(1, -1))
    else text += taken
  }
  if (isText) pushArguments(source, '"')
  for (;;) {
    const { valueEnd, end } = findClose(source, format, ending)
    take(valueEnd)
    if (end !== null) {
      drop(source, end - valueEnd)
      pushArguments(source, isText ? '"' : spellElements(parameter, text, schema))
      return true
    }
    if (source.hasEnded) return false
    yield
  }
}

function hasOwnFrames({ middle, typed }: TaggedParameter): boolean {
  const others = Object.values(typed)
  return others.length > 0 && others.every((frame) => frame.middle.trim() !== middle.trim())
}

/** Drops what guards a string from being taken for markup, and gives what ends it. */
function* dropGuard(source: OutputSource, guard: Enclosure | null): Reading<string> {
  if (guard === null) return ''
  while (source.text.length < guard.open.length && guard.open.startsWith(source.text) && !source.hasEnded) yield
  if (!source.text.startsWith(guard.open)) return ''
  drop(source, guard.open.length)
  return guard.close
}

/** A value that nothing closes but what comes next is JSON, whose own brackets end it. */
function* readBareValue(source: OutputSource, format: TaggedFormat, schema: JsonSchema | null): Reading<boolean> {
  for (;;) {
    const end = endOfJson(source.text, 0)
    if (typeof end === 'number' && (end < source.text.length || source.hasEnded)) {
      pushArguments(source, spellValue(source.text.slice(0, end), schema))
      drop(source, end)
      return true
    }
    if (source.hasEnded) return false
    if (end === null) {
      const next = findClose(source, format, { close: format.notation.close.trim(), tail: '' })
      pushArguments(source, spellValue(source.text.slice(0, next.valueEnd), schema))
      drop(source, next.valueEnd)
      return true
    }
    yield
  }
}

/** How much of the value is certain, and where its closing tag ends if that is certain too. */
function findClose(source: OutputSource, format: TaggedFormat, { close, tail }: Ending) {
  const { text } = source
  for (let index = text.indexOf(close[0] ?? ''); index !== -1; index = text.indexOf(close[0] ?? '', index + 1)) {
    const end = matchLiteral(text, index, close)
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
  const { open, separator, close } = notation.parameter
  const position = skipSpace(text, at)
  // Where closing tags begin like opening ones, one that follows is the end of an element around this one.
  const opening = close.trim().startsWith(open.trim()) ? null : open
  const literals = [separator + open, opening ?? '', notation.close, section.close]
  const known = literals.map((literal) => literal.trim()).filter((literal) => literal !== '')
  const found = firstMatch(known.map((literal) => matchLiteral(text, position, literal)))
  return opening === null && typeof found !== 'number' ? matchElement(notation.parameter, text, position, found) : found
}

/** An opening tag that is no closing one. */
function matchElement({ open, close }: TaggedParameter, text: string, at: number, otherwise: Match): Match {
  const end = matchLiteral(text, at, open.trim())
  if (typeof end !== 'number') return end === 'more' ? 'more' : otherwise
  const beyond = close.trim().slice(open.trim().length)[0] ?? ''
  if (end >= text.length) return 'more'
  return text[end] === beyond ? otherwise : end
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
