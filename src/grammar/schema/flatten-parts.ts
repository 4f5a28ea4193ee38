import { SchemaFault } from '../schema-fault.ts'
import { unknownPart } from './hidden-properties.ts'
import { keyword, listed, type Part } from './schema-part.ts'
import { resolveReference } from './resolve-reference.ts'

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
 * as the bare one and shares its rule. Ends, because `checkSchema` has refused cycles.
 */
export function flattenParts(root: unknown, parts: readonly Part[]): Part[] {
  const seen = new Set<unknown>()
  const plain: Part[] = []
  const open = parts.toReversed()
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.schema === true || seen.has(part.schema)) continue
    seen.add(part.schema)
    if (part.schema === false || Object.keys(part.schema).some((name) => !annotations.has(name))) plain.push(part)
    const next = inPlaceParts(root, part)
    open.push(...next.toReversed())
  }
  return plain
}

function inPlaceParts(root: unknown, part: Part): Part[] {
  const target = resolveReference(root, part)
  const all = keyword(part.schema, 'allOf') === undefined ? [] : listed(part, 'allOf')
  if (target === null) return all
  // `checkSchema` has let it pass, so it is one that may be left out.
  return [target instanceof SchemaFault ? unknownPart(part.path) : target, ...all]
}
