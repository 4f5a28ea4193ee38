// `oneOf` wants exactly one branch to hold. A grammar can only offer the branches
// side by side, which is the same where what is generated for one is never valid
// for another. That is shown from the types, the listed values and the names and
// values of properties; what cannot be shown is not taken on trust.

import type { Context } from './context.ts'
import { hasListedValues, listedValues, mayBe, typesOfValue } from './compile-values.ts'
import { partsOf, readObjectParts, requiredNames } from './object-properties.ts'
import { keyword, type Part, type SchemaObject, toPart } from './schema/schema-part.ts'
import { type JsonType, namedTypes, typesOf } from './schema/schema-types.ts'

/** Discriminators lie at the top of an object or one level below it. */
const lookDepthMax = 3

/**
 * The branches of a `oneOf`, each a list of parts, made to exclude one another; null where that cannot be shown.
 *
 * Where one branch only differs by requiring a property that another may leave
 * out, the other is made to leave it out.
 */
export function exclusiveBranches(context: Context, branches: readonly (readonly Part[])[]): Part[][] | null {
  const values = branches.map((branch) => (hasListedValues(branch) ? listedValues(context, branch) : null))
  const listed = values.flatMap((texts) => texts ?? [])
  const isEachListed = !values.includes(null)
  if (isEachListed && new Set(listed).size === listed.length) return branches.map((branch) => [...branch])
  const exclusive: Part[][] = []
  for (const branch of branches) {
    const own = [...branch]
    for (const other of branches) {
      if (other === branch || excludes(context, { valid: other, generated: own }, 0)) continue
      const name = omittable(context, other, own)
      if (name === null) return null
      own.push(toPart(omission(context, name), branch[0]?.path ?? []))
    }
    exclusive.push(own)
  }
  return exclusive
}

function omission({ omissions }: Context, name: string): SchemaObject {
  const schema = omissions.get(name) ?? { properties: { [name]: false } }
  omissions.set(name, schema)
  return schema
}

/** What is valid for one branch, and what is generated for another. */
type Pair = { readonly valid: readonly Part[]; readonly generated: readonly Part[] }

/** Whether nothing generated for one list of parts is valid for the other. */
function excludes(context: Context, pair: Pair, depth: number): boolean {
  context.spend(pairWork * (pair.valid.length + pair.generated.length))
  const { valid, generated } = pair
  if (valid.some(({ schema }) => schema === false)) return true
  const types = generatedTypes(context, generated)
  const accepted = acceptedTypes(valid)
  if (types !== null && accepted !== null && ![...types].some((type) => overlaps(type, accepted))) return true
  const listing = [valid, generated].find(hasListedValues)
  if (listing !== undefined) {
    const other = listing === valid ? generated : valid
    const values = listedValues(context, listing).map((text): unknown => JSON.parse(text))
    return !values.some((value) => mayBe(context, other, value))
  }
  const isObject = types !== null && types.size === 1 && types.has('object')
  return isObject && depth < lookDepthMax && excludesObjects(context, pair, depth)
}

/** Looking at two branches costs about as much as this many steps of a pattern. */
const pairWork = 10

function excludesObjects(context: Context, { valid, generated }: Pair, depth: number): boolean {
  const required = requiredNames(generated)
  const demanded = [...requiredNames(valid)]
  if (demanded.some((name) => !canHave(context, generated, name))) return true
  const validObjects = readObjectParts(context, valid)
  const generatedObjects = readObjectParts(context, generated)
  return [...required].some((name) => {
    const values = {
      valid: context.flatten(partsOf(context, validObjects, name)),
      generated: context.flatten(partsOf(context, generatedObjects, name)),
    }
    return excludes(context, values, depth + 1)
  })
}

/** Whether an object generated for the parts may have a property. What a choice still to be made adds is not known. */
function canHave(context: Context, parts: readonly Part[], name: string): boolean {
  const objects = readObjectParts(context, parts)
  const own = context.flatten(partsOf(context, objects, name))
  if (own.some(({ schema }) => schema === false)) return false
  if (parts.some(({ pending }) => pending.length > 0)) return true
  const isDeclared = objects.some(({ declared }) => declared.has(name)) || requiredNames(parts).has(name)
  const isOpen = objects.some(({ patterns, others, hidesMore }) => patterns.length > 0 || others !== null || hidesMore)
  const declaresNone = objects.every(({ declared }) => declared.size === 0) && requiredNames(parts).size === 0
  return isDeclared || isOpen || declaresNone
}

/** A property that one branch requires and another may leave out; null where there is none. */
function omittable(context: Context, requiring: readonly Part[], leaving: readonly Part[]): string | null {
  const types = typesOf(leaving)
  if (types === null || types.size !== 1 || !types.has('object')) return null
  if (acceptedTypes(requiring)?.has('object') === false) return null
  const required = requiredNames(leaving)
  return [...requiredNames(requiring)].find((name) => !required.has(name)) ?? null
}

function generatedTypes(context: Context, parts: readonly Part[]): ReadonlySet<JsonType> | null {
  if (!hasListedValues(parts)) return parts.length === 0 ? null : typesOf(parts)
  return new Set(listedValues(context, parts).flatMap((text) => typesOfValue(JSON.parse(text))))
}

/** The types that the parts do not refuse; null for all. */
function acceptedTypes(parts: readonly Part[]): ReadonlySet<JsonType> | null {
  const named = parts.map(namedTypes).filter((types) => types !== null)
  return named.reduce<ReadonlySet<JsonType> | null>(
    (all, types) => (all === null ? types : new Set([...all].filter((type) => overlaps(type, types)))),
    null,
  )
}

/** A generated number may be whole, and a whole number is a number. */
function overlaps(type: JsonType, accepted: ReadonlySet<JsonType>): boolean {
  if (type === 'number' || type === 'integer') return accepted.has('number') || accepted.has('integer')
  return accepted.has(type)
}

/** Whether parts say two things that values have to keep both, such as a list of them and a bound. */
export function mayContradict(parts: readonly Part[]): boolean {
  const limits = [
    'enum',
    'const',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'minLength',
    'maxLength',
  ]
  return limits.filter((name) => parts.some(({ schema }) => keyword(schema, name) !== undefined)).length > 1
}
