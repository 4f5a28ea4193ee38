// References of a schema: `$ref` with a JSON Pointer (RFC 6901) into the same document, and `allOf`.

import { faultAt, isSchemaObject, keyword, type Part, toPart, listed } from './schema-part.ts'
import { SchemaFault, type SchemaPath } from '../schema-fault.ts'
import { expandedNodesMax } from './schema-limits.ts'
import { unknownPart } from './hidden-properties.ts'

/** The schema that a part's `$ref` points to inside the same document; null where it has none, a fault where it leads nowhere. */
export function resolveReference(root: unknown, part: Part): Part | SchemaFault | null {
  const reference = keyword(part.schema, '$ref')
  if (reference === undefined) return null
  if (typeof reference !== 'string') throw faultAt(part, '$ref', 'expected a string')
  if (reference !== '#' && !reference.startsWith('#/')) {
    return faultAt(part, '$ref', 'only references into the same schema are supported, such as "#/$defs/name"')
  }
  const { target, path } = follow(root, reference)
  if (!isSchemaObject(target) && typeof target !== 'boolean') {
    return faultAt(part, '$ref', 'the reference points to no schema')
  }
  return toPart(target, path)
}

type Followed = { readonly target: unknown; readonly path: SchemaPath }

/** Where the references of a schema lead: each is followed for every value that has it, several times. */
const followedByRoot = new WeakMap<object, Map<string, Followed>>()

function follow(root: unknown, reference: string): Followed {
  if (!isSchemaObject(root)) return followAnew(root, reference)
  const known = followedByRoot.get(root) ?? new Map<string, Followed>()
  followedByRoot.set(root, known)
  const followed = known.get(reference) ?? followAnew(root, reference)
  known.set(reference, followed)
  return followed
}

function followAnew(root: unknown, reference: string): Followed {
  let target: unknown = root
  const path: (string | number)[] = []
  for (const segment of reference.split('/').slice(1).map(decodeSegment)) {
    const key = Array.isArray(target) && /^(0|[1-9][0-9]*)$/.test(segment) ? Number(segment) : segment
    target = childOf(target, key)
    path.push(key)
  }
  return { target, path }
}

function childOf(parent: unknown, key: string | number): unknown {
  if (Array.isArray(parent)) return typeof key === 'number' ? parent[key] : undefined
  return isSchemaObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined
}

/** A pointer segment is percent-encoded in a URI, and writes `~` and `/` as `~0` and `~1`. */
function decodeSegment(segment: string): string {
  return decodePercent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decodePercent(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The root, or what some `$ref` points to: its size as written and where it leads. */
export type Definition = {
  readonly part: Part
  nodes: number
  readonly references: { readonly target: unknown; readonly isInPlace: boolean }[]
}

type Definitions = ReadonlyMap<unknown, Definition>

export function checkReferences(root: unknown, definitions: Definitions): void {
  refuseCycles(definitions)
  if (expandedNodes(root, definitions) > expandedNodesMax) {
    const message = `the schema is too large: more than ${expandedNodesMax} subschemas when every "$ref" is followed`
    throw new SchemaFault([], '$ref', message)
  }
}

/**
 * Refuses definitions that lead back to themselves with no property or item between.
 *
 * Takes away, again and again, the definitions that nothing else begins with; those in a circle remain.
 */
function refuseCycles(definitions: Definitions): void {
  const uses = new Map<unknown, number>()
  const inPlace = [...definitions.values()].flatMap(({ references }) => references.filter((one) => one.isInPlace))
  for (const { target } of inPlace) uses.set(target, (uses.get(target) ?? 0) + 1)
  const free = [...definitions.keys()].filter((schema) => !uses.has(schema))
  for (let schema = free.pop(); schema !== undefined; schema = free.pop()) {
    for (const { target, isInPlace } of definitions.get(schema)?.references ?? []) {
      if (!isInPlace) continue
      const left = (uses.get(target) ?? 0) - 1
      uses.set(target, left)
      if (left === 0) free.push(target)
    }
  }
  for (const [schema, count] of uses) {
    if (count === 0) continue
    const path = definitions.get(schema)?.part.path ?? []
    throw new SchemaFault(path, '$ref', 'the schema refers to itself without a property or an item between')
  }
}

/** Size with every reference written out. A definition inside itself adds nothing; the sum stops above the limit. */
function expandedNodes(root: unknown, definitions: Definitions): number {
  const sizes = new Map<unknown, number>()
  const stack: { schema: unknown; next: number; size: number }[] = []
  const enter = (schema: unknown): void => {
    sizes.set(schema, 0)
    stack.push({ schema, next: 0, size: definitions.get(schema)?.nodes ?? 0 })
  }
  enter(root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const reference = definitions.get(frame.schema)?.references[frame.next]
    if (reference === undefined) {
      sizes.set(frame.schema, Math.min(frame.size, expandedNodesMax + 1))
      stack.pop()
      continue
    }
    const size = sizes.get(reference.target)
    if (size === undefined) {
      enter(reference.target)
      continue
    }
    frame.size += size
    frame.next += 1
  }
  return sizes.get(root) ?? 0
}

/** What may stand beside a `$ref` or an `allOf` without saying anything about a value. */
const annotations: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
])

/**
 * Follows `$ref` and `allOf` until only plain parts are left, each once.
 *
 * Parts that say nothing are dropped, so a described `$ref` is the same value
 * as the bare one and shares its rule. A part that is given stands for itself wherever it is referred to: its
 * choices may be made already. Ends, because `checkSchema` has refused cycles.
 */
export function flattenParts(root: unknown, parts: readonly Part[]): Part[] {
  const [only] = parts
  if (parts.length === 0) return []
  // Most values have one schema that leads to no other.
  if (parts.length === 1 && only !== undefined && !isComposed(only.schema))
    return saysSomething(only.schema) ? [only] : []
  const given = new Map(parts.map((part) => [part.schema, part]))
  const seen = new Set<unknown>()
  const plain: Part[] = []
  const open = parts.toReversed()
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.schema === true || seen.has(part.schema)) continue
    seen.add(part.schema)
    if (saysSomething(part.schema)) plain.push(part)
    const next = inPlaceParts(root, part).map((one) => given.get(one.schema) ?? one)
    open.push(...next.toReversed())
  }
  return plain
}

function isComposed(schema: Part['schema']): boolean {
  return keyword(schema, '$ref') !== undefined || keyword(schema, 'allOf') !== undefined
}

function saysSomething(schema: Part['schema']): boolean {
  if (typeof schema === 'boolean') return !schema
  for (const name in schema) if (!annotations.has(name) && Object.hasOwn(schema, name)) return true
  return false
}

function inPlaceParts(root: unknown, part: Part): Part[] {
  const target = resolveReference(root, part)
  const all = keyword(part.schema, 'allOf') === undefined ? [] : listed(part, 'allOf')
  if (target === null) return all
  // `checkSchema` has let it pass, so it is one that may be left out.
  return [target instanceof SchemaFault ? unknownPart(part.path) : target, ...all]
}
