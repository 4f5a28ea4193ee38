/** Protects every string in a value, the keys of objects included. */
export function protectStrings<Value>(value: Value, protect: (text: string) => string): Value
export function protectStrings(value: unknown, protect: (text: string) => string): unknown {
  if (typeof value === 'string') return protect(value)
  if (Array.isArray(value)) return value.map((item: unknown) => protectStrings(item, protect))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value) as [string, unknown][]
  // Not assigned one by one: a key named `__proto__` must stay a key.
  return Object.fromEntries(members.map(([key, member]) => [protect(key), protectStrings(member, protect)]))
}
