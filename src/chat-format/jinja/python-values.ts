// Methods of Python's lists, mappings and strings that the Jinja library lacks, and operators that it refuses or that
// compare as JavaScript would.

import {
  extendList,
  isList,
  isMapping,
  printed,
  type RuntimeValue,
  toFunction,
  toList,
  toPlain,
  toRuntime,
} from './runtime-values.ts'

type Method<Value> = (value: Value, args: readonly RuntimeValue[]) => unknown

const textOf = (value: RuntimeValue | undefined) => (value === undefined ? '' : printed(toPlain(value)))
const numberOf = (value: RuntimeValue | undefined, fallback: number) =>
  value === undefined ? fallback : Number(toPlain(value))
const isLike = (a: RuntimeValue, b: RuntimeValue | undefined) =>
  JSON.stringify(toPlain(a)) === JSON.stringify(b && toPlain(b))

const ofLists: Readonly<Record<string, Method<RuntimeValue[]>>> = {
  append: (list, [item]) => void list.push(item ?? toRuntime(undefined)),
  extend: (list, [items]) => extendList(list, items !== undefined && isList(items) ? items.value : []),
  insert: (list, [at, item]) => void list.splice(numberOf(at, 0), 0, item ?? toRuntime(undefined)),
  pop: (list, [at]) => list.splice(numberOf(at, -1), 1)[0],
  remove: (list, [item]) => {
    const at = list.findIndex((one) => isLike(one, item))
    if (at !== -1) list.splice(at, 1)
  },
  clear: (list) => void list.splice(0),
  reverse: (list) => void list.reverse(),
  copy: (list) => toList(list),
  index: (list, [item]) => list.findIndex((one) => isLike(one, item)),
  count: (list, [item]) => list.filter((one) => isLike(one, item)).length,
}

const ofMappings: Readonly<Record<string, Method<Map<string, RuntimeValue>>>> = {
  update: (mapping, [other]) => {
    if (other !== undefined && isMapping(other)) for (const [key, member] of other.value) mapping.set(key, member)
  },
  pop: (mapping, [key, fallback]) => {
    const found = mapping.get(textOf(key)) ?? fallback
    mapping.delete(textOf(key))
    return found
  },
  setdefault: (mapping, [key, fallback]) => {
    const name = textOf(key)
    if (!mapping.has(name)) mapping.set(name, fallback ?? toRuntime(null))
    return mapping.get(name)
  },
}

const ofTexts: Readonly<Record<string, Method<string>>> = {
  find: (text, [part]) => text.indexOf(textOf(part)),
  rfind: (text, [part]) => text.lastIndexOf(textOf(part)),
  index: (text, [part]) => text.indexOf(textOf(part)),
  count: (text, [part]) => text.split(textOf(part)).length - 1,
  isdigit: (text) => /^\d+$/u.test(text),
  isnumeric: (text) => /^\d+$/u.test(text),
  isalpha: (text) => isOnly(text, /\P{L}/u),
  isalnum: (text) => isOnly(text, /[^\p{L}\p{N}]/u),
  isspace: (text) => /^\s+$/u.test(text),
  isupper: (text) => text !== text.toLowerCase() && text === text.toUpperCase(),
  islower: (text) => text !== text.toUpperCase() && text === text.toLowerCase(),
  zfill: (text, [length]) => text.padStart(numberOf(length, 0), '0'),
  ljust: (text, [length]) => text.padEnd(numberOf(length, 0)),
  rjust: (text, [length]) => text.padStart(numberOf(length, 0)),
  removeprefix: (text, [part]) => (text.startsWith(textOf(part)) ? text.slice(textOf(part).length) : text),
  removesuffix: (text, [part]) =>
    textOf(part) !== '' && text.endsWith(textOf(part)) ? text.slice(0, -textOf(part).length) : text,
  splitlines: (text) => text.split(/\r?\n/u),
  rsplit: (text, [separator]) => text.split(separator === undefined ? /\s+/u : textOf(separator)),
  partition: (text, [separator]) => partition(text, textOf(separator), text.indexOf(textOf(separator))),
  rpartition: (text, [separator]) => partition(text, textOf(separator), text.lastIndexOf(textOf(separator))),
  join: (text, [items]) => (items !== undefined && isList(items) ? items.value.map(textOf).join(text) : ''),
  format: (text, args) => {
    let next = 0
    return text.replace(/\{(\d*)\}/gu, (_, at: string) => textOf(args[at === '' ? next++ : Number(at)]))
  },
}

/** By what must not be there: an expression for all of a text would keep a place to come back to for each character. */
function isOnly(text: string, others: RegExp): boolean {
  return text !== '' && !others.test(text)
}

function partition(text: string, separator: string, at: number): string[] {
  return at === -1 ? [text, '', ''] : [text.slice(0, at), separator, text.slice(at + separator.length)]
}

/** The method of this name bound to its object, or undefined where no type of that name has one. */
export function methodOf(object: RuntimeValue, name: string): RuntimeValue | undefined {
  const { value } = object
  if (isList(object)) return bind(ofLists, name, object.value)
  if (isMapping(object)) return bind(ofMappings, name, object.value)
  return typeof value === 'string' ? bind(ofTexts, name, value) : undefined
}

function bind<Value>(methods: Readonly<Record<string, Method<Value>>>, name: string, value: Value) {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined) return undefined
  return toFunction((args) => {
    const result = method(value, args)
    const isRuntime = typeof result === 'object' && result !== null && '__bool__' in result
    return isRuntime ? (result as RuntimeValue) : toRuntime(result ?? null)
  })
}

type Operator = (left: RuntimeValue, right: RuntimeValue) => RuntimeValue | undefined

const operators: Readonly<Record<string, Operator>> = {
  '==': (left, right) => toRuntime(isEqual(left, right)),
  '!=': (left, right) => toRuntime(!isEqual(left, right)),
  '~': (left, right) => toRuntime(printed(toPlain(left)) + printed(toPlain(right))),
  in: (left, right) => toRuntime(contains(right, left)),
  'not in': (left, right) => toRuntime(!contains(right, left)),
  '+': betweenTexts((a, b) => a + b),
  '*': (left, right) => repeat(left, right) ?? repeat(right, left),
  '%': (left, right) => (typeof left.value === 'string' ? toRuntime(interpolate(left.value, right)) : undefined),
  '<': betweenTexts((a, b) => a < b),
  '>': betweenTexts((a, b) => a > b),
  '<=': betweenTexts((a, b) => a <= b),
  '>=': betweenTexts((a, b) => a >= b),
}

/** What the operator makes of the two, or undefined where the library knows that as well. */
export function combine(operator: string, left: RuntimeValue, right: RuntimeValue): RuntimeValue | undefined {
  return Object.hasOwn(operators, operator) ? operators[operator]?.(left, right) : undefined
}

function betweenTexts(combined: (a: string, b: string) => string | boolean): Operator {
  return ({ value: a }, { value: b }) =>
    typeof a === 'string' && typeof b === 'string' ? toRuntime(combined(a, b)) : undefined
}

function isEqual(left: RuntimeValue, right: RuntimeValue): boolean {
  const [a, b] = [left.value, right.value]
  if (a === undefined || b === undefined) return left.type === right.type
  if (isList(left) || isMapping(left)) return JSON.stringify(toPlain(left)) === JSON.stringify(toPlain(right))
  // Python's booleans are numbers; an undefined value equals another one and nothing else.
  return typeof a === 'boolean' || typeof b === 'boolean'
    ? isNumeric(a) && isNumeric(b) && Number(a) === Number(b)
    : a === b
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'boolean' || typeof value === 'number'
}

function contains(container: RuntimeValue, item: RuntimeValue): boolean {
  if (isList(container)) return container.value.some((one) => isEqual(one, item))
  if (isMapping(container)) return container.value.has(String(item.value))
  return typeof container.value === 'string' && typeof item.value === 'string' && container.value.includes(item.value)
}

function repeat(what: RuntimeValue, times: RuntimeValue): RuntimeValue | undefined {
  if (typeof times.value !== 'number') return undefined
  const count = Math.max(0, times.value)
  if (typeof what.value === 'string') return toRuntime(what.value.repeat(count))
  return isList(what) ? toList(Array.from({ length: count }, () => what.value).flat()) : undefined
}

/** `'%s of %d' % (a, b)` */
function interpolate(pattern: string, given: RuntimeValue): string {
  const values = (isList(given) ? given.value : [given]).map((value) => printed(toPlain(value)))
  let next = 0
  return pattern.replace(/%([sdrf%])/gu, (_, kind: string) => (kind === '%' ? '%' : (values[next++] ?? '')))
}
