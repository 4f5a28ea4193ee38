import { readPattern, satisfies, stringConstraint, type StringConstraint, nameRule } from './compile-string.ts'
import { listedValues, hasListedValues } from './compile-values.ts'
import type { Context, ObjectPart } from './context.ts'
import { isMatch, literalStart, mayBegin } from './patterns/nfa-runner.ts'
import { type Nfa, oppositeOf } from './patterns/nfa.ts'
import { hidesProperties } from './schema/hidden-properties.ts'
import { impossible, keyword, type Part, stringsOf, subschemas, toPart } from './schema/schema-part.ts'
import { typesOf } from './schema/schema-types.ts'
import { colon } from './json-rules.ts'
import { ImpossibleSchema } from './schema-fault.ts'

export type Property = { readonly name: string; readonly parts: readonly Part[]; readonly isRequired: boolean }

/** The names a property may have: listed ones, or those within a constraint. */
export type Names = { readonly listed: readonly string[] | null; readonly constraint: StringConstraint }

export function readObjectParts(context: Context, parts: readonly Part[]): ObjectPart[] {
  return parts.map((part) => {
    // What it reads does not depend on which choices are still to be made.
    const known = context.objectParts.get(part.schema) ?? readObjectPart(context, part)
    context.objectParts.set(part.schema, known)
    return { ...known, part }
  })
}

function readObjectPart(context: Context, part: Part): ObjectPart {
  const { patterns, unread } = readPatterns(context, part)
  const others = readOthers(part, unread)
  const declared = new Map(subschemas(part, 'properties'))
  return { part, declared, patterns, others, hidesMore: unread.length > 0 || hidesProperties(part) }
}

/** Whether no property is valid but those that it declares. */
export function isClosed({ patterns, others, hidesMore }: ObjectPart): boolean {
  return patterns.length === 0 && others?.schema === false && !hidesMore
}

/** The patterns of names, and the schemas whose pattern was left out. */
function readPatterns(context: Context, part: Part): Pick<ObjectPart, 'patterns'> & { readonly unread: Part[] } {
  const patterns: ObjectPart['patterns'][number][] = []
  const unread: Part[] = []
  for (const [pattern, value] of subschemas(part, 'patternProperties')) {
    const nfas = readPattern(context, { part, name: 'patternProperties' }, pattern)
    if (nfas === null) unread.push(value)
    else patterns.push({ nfas, part: value })
  }
  return { patterns, unread }
}

/** A pattern that was left out, where only its names were allowed, has its schema hold for any name. */
function readOthers(part: Part, unread: readonly Part[]): Part | null {
  const others = keyword(part.schema, 'additionalProperties')
  if (others === undefined) return null
  const path = [...part.path, 'additionalProperties']
  if (others !== false || unread.length === 0) return toPart(others, path)
  return toPart({ anyOf: unread.map(({ schema }) => schema) }, path)
}

/** Everything that is said about the property of one name. */
export function partsOf(context: Context, objects: readonly ObjectPart[], name: string): Part[] {
  return objects.flatMap(({ declared, patterns, others }) => {
    const own = declared.get(name)
    const matching = patterns.filter(({ nfas }) => nfas.every((nfa) => isMatch(nfa, name, context.spend)))
    const found = [...(own === undefined ? [] : [own]), ...matching.map(({ part }) => part)]
    return found.length > 0 || others === null ? found : [others]
  })
}

export function readNames(context: Context, parts: readonly Part[]): Names {
  const names = context.flatten(
    parts.flatMap((part) => {
      const value = keyword(part.schema, 'propertyNames')
      return value === undefined ? [] : [toPart(value, [...part.path, 'propertyNames'])]
    }),
  )
  for (const part of names) {
    for (const choice of part.pending) {
      context.relax(part, choice, 'alternatives for names of properties are not supported')
    }
  }
  const constraint = nameConstraint(context, names)
  if (constraint === null || context.isImpossible(names)) return { listed: [], constraint: anyName }
  if (!hasListedValues(names)) return { listed: null, constraint }
  return { listed: listedValues(context, names).map((text): string => String(JSON.parse(text))), constraint }
}

const anyName: StringConstraint = { nfas: [], lengths: { min: 0, max: Infinity } }

/** Null where no text can be a name: an object without properties is possible all the same. */
function nameConstraint(context: Context, names: readonly Part[]): StringConstraint | null {
  try {
    return stringConstraint(context, names)
  } catch (error) {
    if (error instanceof ImpossibleSchema) return null
    throw error
  }
}

/** The names that must be there. Draft 3 wrote `required: true` on the property itself, which says nothing here. */
export function requiredNames(parts: readonly Part[]): ReadonlySet<string> {
  return new Set(
    parts.flatMap((part) => {
      const value = keyword(part.schema, 'required')
      return value === undefined || typeof value === 'boolean' ? [] : stringsOf(part, 'required')
    }),
  )
}

/** The names that have a place of their own, in the order written. */
export function knownNames(objects: readonly ObjectPart[], names: Names): ReadonlySet<string> {
  const declared = objects.flatMap((object) => [...object.declared.keys()])
  const isMap = objects.some(({ others }) => others !== null && others.schema !== false)
  const listed = declared.length === 0 || isMap ? (names.listed ?? []) : []
  return new Set([...declared, ...requiredNames(objects.map(({ part }) => part)), ...listed])
}

type Known = {
  readonly objects: readonly ObjectPart[]
  readonly names: Names
  readonly known: ReadonlySet<string>
}

/** The properties of the known names; those that can have no value are left out. */
export function knownProperties(context: Context, { objects, names, known }: Known): Property[] {
  const parts = objects.map(({ part }) => part)
  const required = requiredNames(parts)
  const properties: Property[] = []
  for (const name of known) {
    const isAllowed = names.listed === null ? satisfies(context, name, names.constraint) : names.listed.includes(name)
    const value = context.flatten(partsOf(context, objects, name))
    if (isAllowed && !context.isImpossible(value))
      properties.push({ name, parts: value, isRequired: required.has(name) })
    else if (required.has(name)) throw impossible(value.length > 0 ? value : parts)
  }
  return properties
}

/** Whether parts that allow objects alone visibly allow no value for a property that has to be there. */
export function lacksRequired(context: Context, parts: readonly Part[]): boolean {
  const types = typesOf(parts)
  if (types === null || types.size !== 1 || !types.has('object')) return false
  const required = requiredNames(parts)
  if (required.size === 0) return false
  const objects = readObjectParts(context, parts)
  return [...required].some((name) => context.isImpossible(context.flatten(partsOf(context, objects, name))))
}

export type Extras = {
  readonly objects: readonly ObjectPart[]
  readonly names: Names
  /** Names that have a place of their own in the object. */
  readonly known: ReadonlySet<string>
  readonly hint: string
}

/** A kind of property whose name is not known beforehand. */
type Extra = {
  readonly nfas: readonly Nfa[]
  /** What each such name begins with. */
  readonly start: string
  readonly value: readonly Part[]
}

/**
 * The rule of one property beyond the known ones; null where none is generated.
 *
 * An object that declares properties gets no others unless the schema says
 * what they hold: leaving them out is always valid, and what tools expect.
 */
export function extraRule(context: Context, extras: Extras): string | null {
  const { objects, names, known, hint } = extras
  if (names.listed !== null) return null
  const kinds = [...patternedExtras(context, objects), ...otherExtras(context, extras)]
  const pairs = kinds.flatMap(({ nfas, start, value }) => {
    const constraint = { nfas: [...names.constraint.nfas, ...nfas], lengths: names.constraint.lengths }
    const taken = [...known].filter((one) => one.startsWith(start))
    const name = nameRule(context, constraint, taken)
    return name === null ? [] : [`${name} ${colon} ${context.value(value, hint)}`]
  })
  return pairs.length === 0 ? null : context.builder.rule(`${hint}-pair`, pairs.join(' | '))
}

/** Whether any property at all may follow, whatever its name and value. */
export function isUnrestricted(context: Context, { objects, names, known }: Extras): boolean {
  if (known.size > 0 || names.listed !== null || objects.some(({ patterns }) => patterns.length > 0)) return false
  const { nfas, lengths } = names.constraint
  const hasFreeNames = nfas.length === 0 && lengths.min === 0 && lengths.max === Infinity
  return hasFreeNames && context.flatten(othersOf(objects)).length === 0
}

/** Properties whose name matches just one pattern; of those that match several, none is generated. */
function patternedExtras(context: Context, objects: readonly ObjectPart[]): Extra[] {
  const all = objects.flatMap((object) => object.patterns.map((pattern) => ({ object, pattern })))
  return all.flatMap(({ object, pattern }) => {
    const [nfa] = pattern.nfas
    const start = nfa === undefined || nfa.isNegated ? '' : literalStart(nfa, context.spend)
    const isNear = ({ nfas }: typeof pattern) =>
      nfas.every((one) => one.isNegated || mayBegin(one, start, context.spend))
    const near = all.filter((one) => one.pattern !== pattern && isNear(one.pattern))
    const others = near.map((one) => negated(one.pattern.nfas))
    const value = context.flatten([pattern.part, ...othersOf(objects.filter((one) => one !== object))])
    if (context.isImpossible(value) || others.includes(null)) return []
    return [{ nfas: [...pattern.nfas, ...others.filter((one) => one !== null)], start, value }]
  })
}

function otherExtras(context: Context, { objects, known }: Extras): Extra[] {
  const patterns = objects.flatMap((object) => object.patterns)
  const value = context.flatten(othersOf(objects))
  const isFree = (known.size === 0 && patterns.length === 0) || objects.some(({ hidesMore }) => hidesMore)
  const isDescribed = value.length > 0 || isFree
  const excluded = patterns.map(({ nfas }) => negated(nfas))
  if (!isDescribed || context.isImpossible(value) || excluded.includes(null)) return []
  return [{ nfas: excluded.filter((nfa) => nfa !== null), start: '', value }]
}

function othersOf(objects: readonly ObjectPart[]): Part[] {
  return objects.flatMap(({ others }) => (others === null ? [] : [others]))
}

/** Null for a pattern of several NFAs, which has no single opposite. */
function negated(nfas: readonly Nfa[]): Nfa | null {
  const [nfa] = nfas
  return nfas.length === 1 && nfa !== undefined ? oppositeOf(nfa) : null
}
