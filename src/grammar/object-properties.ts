import { readPattern, satisfies, stringConstraint, type StringConstraint } from './compile-string.ts'
import { listedValues, hasListedValues } from './compile-values.ts'
import type { Context } from './context.ts'
import { isMatch } from './patterns/automaton.ts'
import type { Nfa } from './patterns/nfa.ts'
import { hidesProperties } from './schema/hidden-properties.ts'
import { impossible, keyword, type Part, stringsOf, subschemas, toPart } from './schema/schema-part.ts'
import { isImpossible } from './schema/schema-types.ts'

export type Property = { readonly name: string; readonly parts: readonly Part[]; readonly isRequired: boolean }

/** What one part says about the properties of an object. */
export type ObjectPart = {
  readonly part: Part
  readonly declared: ReadonlyMap<string, Part>
  readonly patterns: readonly { readonly nfas: readonly Nfa[]; readonly part: Part }[]
  /** For every property that neither of these describes; null where any goes. */
  readonly others: Part | null
  /** Something that was left out may describe more properties. */
  readonly hidesMore: boolean
}

/** The names a property may have: listed ones, or those within a constraint. */
export type Names = { readonly listed: readonly string[] | null; readonly constraint: StringConstraint }

export function readObjectParts(context: Context, parts: readonly Part[]): ObjectPart[] {
  return parts.map((part) => {
    const { patterns, unread } = readPatterns(context, part)
    const others = readOthers(part, unread)
    const declared = new Map(subschemas(part, 'properties'))
    return { part, declared, patterns, others, hidesMore: unread.length > 0 || hidesProperties(part) }
  })
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

/** Where only names of a pattern are allowed and the pattern was left out, its schema holds for any name. */
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
  const constraint = stringConstraint(context, names)
  if (isImpossible(names)) return { listed: [], constraint }
  if (!hasListedValues(names)) return { listed: null, constraint }
  return { listed: listedValues(context, names).map((text): string => String(JSON.parse(text))), constraint }
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
    if (isAllowed && !isImpossible(value)) properties.push({ name, parts: value, isRequired: required.has(name) })
    else if (required.has(name)) throw impossible(value.length > 0 ? value : parts)
  }
  return properties
}
