import { faultAt, isSchemaObject, keyword, type Part, toPart } from './schema-part.ts'
import type { SchemaFault, SchemaPath } from '../schema-fault.ts'

/** The schema that a part's `$ref` points to inside the same document; null where it has none, a fault where it leads nowhere. */
export function resolveReference(root: unknown, part: Part): Part | SchemaFault | null {
  const reference = keyword(part.schema, '$ref')
  if (reference === undefined) return null
  if (typeof reference !== 'string') throw faultAt(part, '$ref', 'expected a string')
  if (reference !== '#' && !reference.startsWith('#/')) {
    return faultAt(part, '$ref', 'only references into the same schema are supported, such as "#/$defs/name"')
  }
  const segments = reference.split('/').slice(1).map(decodeSegment)
  let target: unknown = root
  const path: (string | number)[] = []
  for (const segment of segments) {
    const key = Array.isArray(target) && /^(0|[1-9][0-9]*)$/.test(segment) ? Number(segment) : segment
    target = childOf(target, key)
    path.push(key)
  }
  if (!isSchemaObject(target) && typeof target !== 'boolean') {
    return faultAt(part, '$ref', 'the reference points to no schema')
  }
  return toPart(target, path satisfies SchemaPath)
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
