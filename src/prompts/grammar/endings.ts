import type { Body } from './context.ts'
import { SchemaFault } from './schema-fault.ts'
import type { Part } from './schema/schema-part.ts'

/** A rule by its name, and the schemas it is made from. */
export type NamedParts = { readonly name: string; readonly parts: readonly Part[] }

/** An alternative of a rule, with the number of rules it needs that are not known to end yet. */
type Open = { readonly name: string; waiting: number }

/**
 * Finds the rules that no finite text can match, such as that of an object which requires one like itself.
 *
 * A model that began one would have no way to finish. Only rules that were added count; others end by themselves.
 */
export function createEndings() {
  const owners = new Map<string, readonly Part[]>()
  const alternatives: { readonly name: string; readonly needs: readonly string[] }[] = []

  function add({ name, parts }: NamedParts, bodies: readonly Body[]): void {
    owners.set(name, parts)
    for (const { needs } of bodies) alternatives.push({ name, needs })
  }

  function check(): void {
    const waitingFor = new Map<string, Open[]>()
    const ended = new Set<string>()
    for (const { name, needs } of alternatives) {
      const missing = new Set(needs.filter((need) => owners.has(need)))
      const open = { name, waiting: missing.size }
      if (missing.size === 0) ended.add(name)
      for (const need of missing) waitingFor.set(need, [...(waitingFor.get(need) ?? []), open])
    }
    for (const name of ended) {
      for (const open of waitingFor.get(name) ?? []) {
        open.waiting -= 1
        if (open.waiting === 0) ended.add(open.name)
      }
    }
    for (const [name, parts] of owners) {
      if (!ended.has(name))
        throw new SchemaFault(parts[0]?.path ?? [], null, 'only an endless value can satisfy this schema')
    }
  }

  return { add, check }
}
