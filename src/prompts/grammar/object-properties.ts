import { readPattern, satisfies, stringConstraint, type StringConstraint } from './compile-string.ts'
import { listedValues, hasListedValues } from './compile-values.ts'
import type { Context } from './context.ts'
import { isMatch } from './patterns/automaton.ts'
import type { Nfa } from './patterns/nfa.ts'
import { faultAt, impossible, keyword, type Part, stringsOf, subschemas, toPart } from './schema/schema-part.ts'
import { isImpossible } from './schema/schema-types.ts'

export type Property = { readonly name: string; readonly parts: readonly Part[]; readonly isRequired: boolean }

/** What one part says about the properties of an object. */
export type ObjectPart = {
  readonly part: Part
  readonly declared: ReadonlyMap<string, Part>
  readonly patterns: readonly { readonly nfas: readonly Nfa[]; readonly part: Part }[]
  /** For every property that neither of these describes; null where any goes. */
  readonly others: Part | null
}

/** The names a property may have: listed ones, or those within a constraint. */
export type Names = { readonly listed: readonly string[] | null; readonly constraint: StringConstraint }

export function readObjectParts(context: Context, parts: readonly Part[]): ObjectPart[] {
  return parts.map((part) => {
    const others = keyword(part.schema, 'additionalProperties')
    return {
      part,
      declared: new Map(subschemas(part, 'properties')),
      patterns: subschemas(part, 'patternProperties').map(([pattern, value]) => ({
        nfas: readPattern(context, { part, name: 'patternProperties' }, pattern),
        part: value,
      })),
      others: others === undefined ? null : toPart(others, [...part.path, 'additionalProperties']),
    }
  })
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
  const [chosen] = names.filter(({ pending }) => pending.length > 0)
  if (chosen !== undefined) throw faultAt(chosen, 'anyOf', 'alternatives for names of properties are not supported')
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
