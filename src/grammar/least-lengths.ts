import type { Body } from './context.ts'
import { SchemaFault } from './schema-fault.ts'
import { leastCharactersMax } from './schema/schema-limits.ts'
import { keyword, type Part } from './schema/schema-part.ts'

/** A rule by its name, and the schemas it is made from. */
export type NamedParts = { readonly name: string; readonly parts: readonly Part[] }

/** An alternative of a rule: what is known of its length, and how many of the rules it needs are still to be measured. */
type Alternative = { readonly name: string; length: number; waiting: number }

/** Keywords that make a value long from below, the first found is named. */
const longKeywords = ['minItems', 'minLength', 'minProperties', 'required'] as const

/**
 * Measures the shortest text of every rule.
 *
 * A model that began a value without an end, such as an object that requires one
 * like itself, would have no way to finish; with one of millions of characters
 * it is no better off. Only rules that were added are measured, others are
 * given by the length of their text.
 */
export function createLeastLengths() {
  const owners = new Map<string, readonly Part[]>()
  const inline = new Map<string, number>()
  const bodies: { readonly name: string; readonly body: Body }[] = []

  function add({ name, parts }: NamedParts, alternatives: readonly Body[]): void {
    owners.set(name, parts)
    for (const body of alternatives) bodies.push({ name, body })
  }

  /** The text of a value that is no rule of its own. */
  function addInline(text: string, alternatives: readonly Body[]): void {
    inline.set(text, Math.min(...alternatives.map(({ own }) => own)))
  }

  /** The rules whose texts never end, since each holds one of its kind or one that is impossible. Throws for one that is too long. */
  function unending(): NamedParts[] {
    const measured = measure()
    for (const [name, length] of measured) {
      if (length > leastCharactersMax) throw tooLong(owners.get(name) ?? [])
    }
    return [...owners].flatMap(([name, parts]) => (measured.has(name) ? [] : [{ name, parts }]))
  }

  /** From the shortest rule to the longest, so that a rule is as short as the first of its alternatives to be known. */
  function measure(): ReadonlyMap<string, number> {
    const measured = new Map<string, number>()
    const known = createMinHeap<string>()
    const waitingFor = new Map<string, { readonly alternative: Alternative; readonly times: number }[]>()
    for (const { name, body } of bodies) {
      const alternative = { name, length: body.own, waiting: 0 }
      for (const { value, times } of body.needs) {
        if (!owners.has(value)) {
          alternative.length += times * (inline.get(value) ?? 1)
          continue
        }
        alternative.waiting += 1
        const waiting = waitingFor.get(value) ?? []
        waitingFor.set(value, waiting)
        waiting.push({ alternative, times })
      }
      if (alternative.waiting === 0) known.push(name, alternative.length)
    }
    for (let next = known.pop(); next !== null; next = known.pop()) {
      if (measured.has(next.item)) continue
      measured.set(next.item, next.rank)
      for (const { alternative, times } of waitingFor.get(next.item) ?? []) {
        alternative.length += times * next.rank
        alternative.waiting -= 1
        if (alternative.waiting === 0) known.push(alternative.name, alternative.length)
      }
    }
    return measured
  }

  return { add, addInline, unending }
}

function tooLong(parts: readonly Part[]): SchemaFault {
  const places = longKeywords.flatMap((name) =>
    parts.filter(({ schema }) => keyword(schema, name) !== undefined).map(({ path }) => [...path, name]),
  )
  const message = `the shortest valid value has more than ${leastCharactersMax} characters`
  return new SchemaFault(places[0] ?? parts[0]?.path ?? [], null, message)
}

type Entry<Item> = { readonly item: Item; readonly rank: number }

/** Gives back items in the order of their ranks, the lowest first. */
export function createMinHeap<Item>() {
  const entries: Entry<Item>[] = []

  function push(item: Item, rank: number): void {
    const entry = { item, rank }
    let place = entries.length
    for (; place > 0; place = parentOf(place)) {
      const parent = entries[parentOf(place)]
      if (parent === undefined || parent.rank <= rank) break
      entries[place] = parent
    }
    entries[place] = entry
  }

  function pop(): Entry<Item> | null {
    const first = entries[0]
    const last = entries.pop()
    if (first === undefined || last === undefined) return null
    if (entries.length > 0) sink(last)
    return first
  }

  /** Puts an entry in the place of the first, below everything that ranks lower. */
  function sink(entry: Entry<Item>): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const child = (entries[left + 1]?.rank ?? Infinity) < (entries[left]?.rank ?? Infinity) ? left + 1 : left
      const lower = entries[child]
      if (lower === undefined || lower.rank >= entry.rank) break
      entries[place] = lower
      place = child
    }
    entries[place] = entry
  }

  return { push, pop }
}

function parentOf(place: number): number {
  return Math.floor((place - 1) / 2)
}
