import { type SchemaFault, ImpossibleSchema } from '../schema-fault.ts'
import { keyword, type Part } from './schema-part.ts'
import { isImpossible } from './schema-types.ts'

/** Thrown when values have turned out to be impossible: the grammar is to be made again without them. */
export class MoreImpossible extends Error {}

/**
 * Remembers which values nothing can satisfy.
 *
 * Most contradictions show only when the rule of a value is made, and others refer to it by then. So the grammar is
 * made as if there were none, and once more without the branches, properties and items that turned out to be impossible.
 */
export function createImpossibleValues() {
  const ids = new Map<unknown, number>()
  const keys = new Set<string>()
  let found = 0
  let firstFault: SchemaFault | null = null

  /** The same for the same schemas with the same choices still to be made. */
  function keyOf(parts: readonly Part[]): string {
    return parts.map((part) => `${idOf(part.schema)}${part.pending.join()}`).join(' ')
  }

  function idOf(schema: unknown): number {
    const id = ids.get(schema) ?? ids.size
    ids.set(schema, id)
    return id
  }

  function has(parts: readonly Part[]): boolean {
    return isImpossible(parts) || (keys.size > 0 && keys.has(keyOf(parts)))
  }

  /** Whether parts are impossible because of this error. One with a format is not: to many validators that is a remark. */
  function isOf(error: unknown, parts: readonly Part[]): error is ImpossibleSchema {
    return error instanceof ImpossibleSchema && parts.every(({ schema }) => keyword(schema, 'format') === undefined)
  }

  function add(parts: readonly Part[], fault: SchemaFault): void {
    firstFault ??= fault
    const size = keys.size
    keys.add(keyOf(parts))
    if (keys.size > size) found += 1
  }

  /** Ends a pass over the schema. Throws where it has to be done again, and where there is nothing left to leave out. */
  function endPass(first: readonly Part[]): void {
    if (firstFault === null) return
    const fault = firstFault
    const isNew = found > 0
    firstFault = null
    found = 0
    if (!isNew || keys.has(keyOf(first))) throw fault
    throw new MoreImpossible()
  }

  return { keyOf, has, isOf, add, endPass }
}

export type ImpossibleValues = ReturnType<typeof createImpossibleValues>
