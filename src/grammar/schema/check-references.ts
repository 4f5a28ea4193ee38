import { SchemaFault } from '../schema-fault.ts'
import { expandedNodesMax } from './schema-limits.ts'
import type { Part } from './schema-part.ts'

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
