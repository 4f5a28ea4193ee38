import type { Random } from '../random.ts'

/** A value with its keys in the order in which the schema names them anywhere; those that it does not name come last. */
export function orderLike(schema: unknown, value: unknown): unknown {
  const positions = new Map<string, number>()
  const collect = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const { properties } = part as { properties?: unknown }
    if (typeof properties === 'object' && properties !== null) {
      for (const key of Object.keys(properties)) if (!positions.has(key)) positions.set(key, positions.size)
    }
    for (const inner of Object.values(part)) collect(inner)
  }
  collect(schema)
  const positionOf = (key: string) => positions.get(key) ?? Infinity
  const order = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(order)
    if (typeof one !== 'object' || one === null) return one
    const entries = Object.entries(one).toSorted(([left], [right]) => (positionOf(left) < positionOf(right) ? -1 : 1))
    return fromEntries(entries.map(([key, inner]) => [key, order(inner)]))
  }
  return order(value)
}

/** An object may have a key `__proto__`, as JSON can. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): object {
  const object = {}
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return object
}

/** A value in which one thing is another: a key gone or added, a number moved, a text cut, a type changed. */
export function mutate(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.3))
      return random.pick([[...value, null], value.slice(1), [...value, ...value]])
    const at = random.integer(0, value.length - 1)
    return value.map((item: unknown, index) => (index === at ? mutate(random, item) : item))
  }
  if (typeof value === 'object' && value !== null) return mutateObject(random, Object.entries(value))
  if (random.chance(0.2)) return random.pick([null, true, '', 0, [], {}])
  if (typeof value === 'number') return random.pick([value + 1, value - 1, -value, value + 0.5, value * 1_000])
  if (typeof value === 'string')
    return random.pick([value.slice(1), `${value}x`, `${value}\n`, value.toUpperCase(), ''])
  return random.pick([null, 'null', 0, true, false])
}

function mutateObject(random: Random, entries: [string, unknown][]): object {
  if (entries.length === 0 || random.chance(0.2)) return fromEntries([...entries, ['more', 1]])
  const at = random.integer(0, entries.length - 1)
  if (random.chance(0.3)) return fromEntries(entries.filter((_, index) => index !== at))
  return fromEntries(entries.map(([key, inner], index) => [key, index === at ? mutate(random, inner) : inner]))
}
