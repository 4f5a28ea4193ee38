import { type Automaton, determinize, type Lengths, acceptedLengths, withLengths } from './patterns/automaton.ts'
import { isMatch } from './patterns/nfa-runner.ts'
import { automatonRule } from './patterns/automaton-rule.ts'
import type { Body, Context } from './context.ts'
import { anyString, stringCharacter } from './json-rules.ts'
import { excludingAutomaton, excludingNfa } from './patterns/name-trie.ts'
import { type Nfa, numberOf, patternNfas } from './patterns/nfa.ts'
import { parsePattern } from './patterns/pattern.ts'
import { PatternError, UnreadablePattern } from './patterns/pattern-reader.ts'
import { compiledFormat, formatPattern, isUnkeptFormat } from './formats.ts'
import { boundedRepetitionMax, closedRepetition } from './repetition.ts'
import { repetitionMax } from './schema/schema-limits.ts'
import {
  eachKeyword,
  faultAt,
  faultOf,
  impossible,
  keyword,
  type Part,
  sizeMax,
  sizeMin,
} from './schema/schema-part.ts'

/** The NFAs and lengths that the keywords of a string come to. */
export type StringConstraint = { readonly nfas: readonly Nfa[]; readonly lengths: Lengths }

export function compileString(context: Context, parts: readonly Part[], hint: string): Body {
  const { builder } = context
  if (isPatterned(parts)) {
    const text = builder.shared(patternKey(context, parts), (name) => patternRule(context, parts, name))
    return { text, own: quotes + (builder.leastLengths.get(text) ?? 0), needs: [] }
  }
  const { lengths } = stringConstraint(context, parts)
  return { text: plainRule(context, parts, { lengths, hint }), own: quotes + lengths.min, needs: [] }
}

const quotes = 2

function plainRule(context: Context, parts: readonly Part[], { lengths, hint }: PlainString): string {
  const { builder } = context
  const { min, max } = lengths
  if (min === 0 && max === Infinity) return anyString(builder)
  const isTooLong = max !== Infinity && max > boundedRepetitionMax
  if (isTooLong) relaxMaxLength(context, parts)
  const bounds = { min, max: isTooLong ? Infinity : max }
  const text = closedRepetition(builder, stringCharacter(builder), bounds, String.raw`"\""`)
  return builder.rule(hint, String.raw`"\"" ${text}`)
}

type PlainString = { readonly lengths: Lengths; readonly hint: string }

/** Reads what parts say about a string, as a value or as a property's name. */
export function stringConstraint(context: Context, parts: readonly Part[]): StringConstraint {
  const nfas = [
    ...eachKeyword(parts, 'pattern').flatMap(
      ({ part, value }) => readPattern(context, { part, name: 'pattern' }, value) ?? [],
    ),
    ...eachKeyword(parts, 'format').flatMap(({ part, value }) => readFormat(context, part, value)),
  ]
  const lengths = { min: sizeMin(parts, 'minLength'), max: sizeMax(parts, 'maxLength') }
  if (lengths.min > lengths.max) throw impossible(parts)
  if (lengths.min > repetitionMax) throw faultOf(parts, 'minLength', `more than ${repetitionMax} is not supported`)
  return { nfas, lengths }
}

/** What reading a pattern counts as in the work of a compilation. */
const patternWork = 100

/** A keyword, and the part of the schema that it stands in. */
type KeywordLocation = { readonly part: Part; readonly name: string }

/** The NFAs of a pattern; null where it is left out. */
export function readPattern(context: Context, location: KeywordLocation, value: unknown): readonly Nfa[] | null {
  const { patterns, relax, spend } = context
  if (typeof value !== 'string') throw faultAt(location.part, location.name, 'expected a string')
  const known = patterns.get(value)
  if (known !== undefined) return known
  spend(patternWork + value.length)
  try {
    const nfas = asFault(location, () => patternNfas(parsePattern(value), spend))
    patterns.set(value, nfas)
    return nfas
  } catch (error) {
    if (!(error instanceof UnreadablePattern)) throw error
    relax(location.part, location.name, error.message)
    return null
  }
}

/** In a schema that is strict, a format that no grammar keeps is a remark, as the standard has it. */
function readFormat({ isLenient, relax, spend }: Context, part: Part, value: unknown): readonly Nfa[] {
  if (typeof value !== 'string') return []
  const format = compiledFormat(value)
  if (format === null) {
    if (isLenient && isUnkeptFormat(value)) relax(part, 'format', `the format ${value} is not supported`)
    return []
  }
  spend(format.readingWork)
  return format.nfas
}

/** Turns a pattern's size into a fault of the schema that has it. */
function asFault<T>({ part, name }: KeywordLocation, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PatternError) || error instanceof UnreadablePattern) throw error
    throw faultAt(part, name, error.message)
  }
}

function isPatterned(parts: readonly Part[]): boolean {
  const formats = eachKeyword(parts, 'format').filter(({ value }) => typeof value === 'string' && formatPattern(value))
  return formats.length > 0 || eachKeyword(parts, 'pattern').length > 0
}

function patternRule(context: Context, parts: readonly Part[], name: string): string {
  const { builder, relax, spend } = context
  const { nfas, lengths } = stringConstraint(context, parts)
  if (nfas.length === 0) {
    builder.leastLengths.set(name, lengths.min)
    return plainRule(context, parts, { lengths, hint: 'text' })
  }
  const free = asFault(ownerOf(parts, ['pattern', 'format']), () => automatonOf(context, parts, nfas))
  const accepted = acceptedLengths(free)
  builder.leastLengths.set(name, Math.max(accepted.min, lengths.min))
  const isImplied = accepted.min >= lengths.min && accepted.max <= lengths.max
  if (isImplied) return automatonRule(builder, 'text', free)
  const bounded = determinizeWithin(() => withLengths(free, lengths, spend))
  if (bounded !== null) return automatonRule(builder, 'text', bounded)
  const length = ownerOf(parts, ['maxLength', 'minLength'])
  relax(length.part, length.name, 'this length cannot be enforced together with the pattern or format')
  return automatonRule(builder, 'text', free)
}

/** The automaton of a format alone is made once for all schemas: that of an e-mail address takes tens of milliseconds. */
function automatonOf({ spend }: Context, parts: readonly Part[], nfas: readonly Nfa[]): Automaton {
  const [nfa] = nfas
  const format = nfas.length === 1 && nfa !== undefined ? eachKeyword(parts, 'format')[0]?.value : undefined
  const known = typeof format === 'string' ? compiledFormat(format) : null
  if (known === null || known.nfas[0] !== nfa) return determinize(nfas, { min: 0, max: Infinity }, spend)
  spend(known.automatonWork)
  return known.automaton
}

/** Null where the automaton would be too large, or accept nothing. */
function determinizeWithin(make: () => Automaton | null): Automaton | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof PatternError) return null
    throw error
  }
}

function relaxMaxLength({ relax }: Context, parts: readonly Part[]): void {
  const { part, name } = ownerOf(parts, ['maxLength'])
  relax(part, name, `more than ${boundedRepetitionMax} is not supported`)
}

function ownerOf(parts: readonly Part[], names: readonly string[]): KeywordLocation {
  for (const name of names) {
    const part = parts.find((candidate) => keyword(candidate.schema, name) !== undefined)
    if (part !== undefined) return { part, name }
  }
  throw impossible(parts)
}

/** Whether a text satisfies a constraint, its length counted in characters as JSON Schema does. */
export function satisfies({ spend }: Context, text: string, { nfas, lengths }: StringConstraint): boolean {
  if (nfas.length === 0 && lengths.min === 0 && lengths.max === Infinity) return true
  const length = Array.from(text).length
  return length >= lengths.min && length <= lengths.max && nfas.every((nfa) => isMatch(nfa, text, spend))
}

/** The rule of a property's name that is none of `excluded`; null where there is no such name, or too much to exclude. */
export function nameRule(
  context: Context,
  { nfas, lengths }: StringConstraint,
  excluded: readonly string[],
): string | null {
  const { builder, spend } = context
  const isFree = nfas.length === 0 && lengths.min === 0 && lengths.max === Infinity
  if (isFree && excluded.length === 0) return anyString(builder)
  const key = `${nfas.map(numberOf).join()} ${lengths.min}-${lengths.max} ${JSON.stringify(excluded)}`
  const known = context.nameRules.get(key)
  if (known !== undefined) return known
  const automaton = determinizeWithin(() => {
    if (isFree) return excludingAutomaton(excluded, spend)
    const all = excluded.length === 0 ? nfas : [...nfas, excludingNfa(excluded, spend)]
    return determinize(all, lengths, spend)
  })
  const rule = automaton === null ? null : automatonRule(builder, 'key', automaton)
  context.nameRules.set(key, rule)
  return rule
}

/** One rule serves every string with the same keywords. */
function patternKey({ isLenient }: Context, parts: readonly Part[]): string {
  return `${isLenient ? 'lenient ' : ''}text ${textKeywords(parts)}`
}

/** All that parts say about a text. */
export function textKeywords(parts: readonly Part[]): string {
  const keywords = ['pattern', 'format', 'minLength', 'maxLength'].map((name) =>
    eachKeyword(parts, name).map(({ value }) => value),
  )
  return JSON.stringify(keywords)
}
