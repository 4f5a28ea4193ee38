// Looks over a whole schema before anything is built from it, without recursion:
// a schema may be as deep and as entangled as a body of several megabytes allows.

import { type ChildSchema, childSchemas } from './child-schemas.ts'
import { checkReferences, type Definition } from './check-references.ts'
import { createTextCount } from './count-text.ts'
import type { Relax } from '../context.ts'
import { resolveReference } from './resolve-reference.ts'
import { SchemaFault } from '../schema-fault.ts'
import { depthMax, expandedNodesMax, repetitionProductMax } from './schema-limits.ts'
import { keyword, type Part } from './schema-part.ts'

/** Keywords that decide what is valid and that no grammar here can say. */
const unsupported = [
  'not',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  '$dynamicRef',
  '$recursiveRef',
] as const

/** A schema on the list of those still to be looked at, with what its place in the definition adds. */
type Visit = ChildSchema & { readonly depth: number }

/**
 * Refuses a schema that is too large or that refers to itself without progress, and relaxes what no grammar can say.
 *
 * Only what the first part leads to is looked at: definitions that nothing refers to may say what they like.
 */
export function checkSchema(root: unknown, first: Part, relax: Relax): void {
  const definitions = new Map<unknown, Definition>()
  const textCount = createTextCount()
  const tooRepeated: Part[] = []
  const waiting = [first]
  let nodes = 0
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (definitions.has(part.schema)) continue
    const definition: Definition = { part, nodes: 0, references: [] }
    definitions.set(part.schema, definition)
    const open: Visit[] = [{ part, depth: 0, isInPlace: true, repetition: 1 }]
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      nodes += 1
      definition.nodes += 1
      checkSize(visit, nodes)
      relaxUnsupported(visit.part, relax)
      textCount.add(visit.part)
      const target = resolveReference(root, visit.part)
      if (target instanceof SchemaFault) relax(visit.part, '$ref', target.message)
      else if (target !== null) {
        definition.references.push({ target: target.schema, isInPlace: visit.isInPlace })
        waiting.push(target)
      }
      const inner = childVisits(visit)
      if (inner.some((child) => child.repetition > repetitionProductMax)) tooRepeated.push(visit.part)
      for (const child of inner) open.push(child)
    }
  }
  checkReferences(first.schema, definitions)
  for (const part of tooRepeated) relax(part, 'maxItems', 'the repetitions inside one another come to too many')
}

function childVisits(visit: Visit): Visit[] {
  return childSchemas(visit.part).map((child) => ({
    part: child.part,
    depth: visit.depth + 1,
    isInPlace: visit.isInPlace && child.isInPlace,
    repetition: visit.repetition * child.repetition,
  }))
}

function checkSize({ part, depth }: Visit, nodes: number): void {
  if (nodes > expandedNodesMax) {
    throw new SchemaFault(part.path, null, `the schema is too large: more than ${expandedNodesMax} subschemas`)
  }
  if (depth > depthMax) {
    throw new SchemaFault(part.path, null, `the schema is nested too deep: more than ${depthMax} levels`)
  }
}

function relaxUnsupported(part: Part, relax: Relax): void {
  for (const name of unsupported) {
    if (keyword(part.schema, name) !== undefined) relax(part, name, `"${name}" is not supported`)
  }
  const isConditional = ['then', 'else'].some((name) => keyword(part.schema, name) !== undefined)
  if (isConditional && keyword(part.schema, 'if') !== undefined) relax(part, 'if', '"if" is not supported')
}
