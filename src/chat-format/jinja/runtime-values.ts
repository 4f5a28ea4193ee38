// Values of the Jinja library as JavaScript values and back, since it exports no class of its values.

import { Environment } from '@huggingface/jinja'

/** A value of the running template. Its `value` holds further ones where it is a list or a mapping. */
export type RuntimeValue = {
  readonly type: string
  readonly value: unknown
  __bool__(): { readonly value: boolean }
  toString(): string
}

export type Plain = string | number | boolean | null | undefined | readonly Plain[] | { readonly [key: string]: Plain }

export function toPlain(given: RuntimeValue): Plain {
  const { value } = given
  // The library's null holds nothing, like what is undefined.
  if (given.type === 'NullValue') return null
  if (Array.isArray(value)) return (value as RuntimeValue[]).map(toPlain)
  if (value instanceof Map) {
    return Object.fromEntries([...(value as Map<string, RuntimeValue>)].map(([key, member]) => [key, toPlain(member)]))
  }
  return value as Plain
}

export function toRuntime(value: unknown): RuntimeValue {
  if (typeof value === 'boolean') return value ? constants.true : constants.false
  if (typeof value === 'string') return new Text(value)
  return convert(value)
}

function convert(value: unknown): RuntimeValue {
  return new Environment().set('value', value) as RuntimeValue
}

/** The library's own conversion is slow, and comparisons and texts are most of what a template makes. */
const constants = { true: convert(true), false: convert(false) }
const Text = convert('').constructor as new (text: string) => RuntimeValue

export function isList(given: RuntimeValue): given is RuntimeValue & { readonly value: RuntimeValue[] } {
  return Array.isArray(given.value)
}

export function isMapping(given: RuntimeValue): given is RuntimeValue & { readonly value: Map<string, RuntimeValue> } {
  return given.value instanceof Map
}

/** A list of values as they are; converting them there and back would make copies. */
export function toList(items: readonly RuntimeValue[]): RuntimeValue {
  const list = toRuntime([])
  if (isList(list)) extendList(list.value, items)
  return list
}

/** One by one, since a client's list may be longer than the arguments that a call can have. */
export function extendList(list: RuntimeValue[], items: readonly RuntimeValue[]): void {
  // A list that is extended by itself would have no end.
  const added = items === list ? [...items] : items
  for (const item of added) list.push(item)
}

export function toMapping(members: Iterable<readonly [string, RuntimeValue]>): RuntimeValue {
  const mapping = toRuntime({})
  for (const [key, member] of members) (mapping.value as Map<string, RuntimeValue>).set(key, member)
  return mapping
}

/** A function that takes and gives values of the template. */
export function toFunction(call: (args: readonly RuntimeValue[]) => RuntimeValue): RuntimeValue {
  const wrapped = toRuntime(() => null) as { value: unknown } & RuntimeValue
  wrapped.value = call
  return wrapped
}

/** A value as Python prints it. */
export function printed(value: Plain): string {
  if (typeof value === 'string') return value
  return represent(value)
}

function represent(value: Plain): string {
  if (value === null) return 'None'
  if (value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'"
    const inner = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"')
    return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote
  }
  if (Array.isArray(value)) return `[${(value as readonly Plain[]).map(represent).join(', ')}]`
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, member]) => `${represent(key)}: ${represent(member)}`)
      .join(', ')}}`
  }
  return String(value)
}
