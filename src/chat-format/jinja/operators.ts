// Operators of Python between values that the Jinja library refuses, or compares as JavaScript would.

import { isList, isMapping, printed, toList, toPlain, toRuntime, type RuntimeValue } from './runtime-values.ts'

type Operator = (left: RuntimeValue, right: RuntimeValue) => RuntimeValue | undefined

const operators: Readonly<Record<string, Operator>> = {
  '==': (left, right) => toRuntime(isEqual(left, right)),
  '!=': (left, right) => toRuntime(!isEqual(left, right)),
  '~': (left, right) => toRuntime(printed(toPlain(left)) + printed(toPlain(right))),
  in: (left, right) => toRuntime(contains(right, left)),
  'not in': (left, right) => toRuntime(!contains(right, left)),
  '+': ofTexts((a, b) => a + b),
  '*': (left, right) => repeat(left, right) ?? repeat(right, left),
  '%': (left, right) => (typeof left.value === 'string' ? toRuntime(interpolate(left.value, right)) : undefined),
  '<': ofTexts((a, b) => a < b),
  '>': ofTexts((a, b) => a > b),
  '<=': ofTexts((a, b) => a <= b),
  '>=': ofTexts((a, b) => a >= b),
}

/** What the operator makes of the two, or undefined where the library knows that as well. */
export function combine(operator: string, left: RuntimeValue, right: RuntimeValue): RuntimeValue | undefined {
  return Object.hasOwn(operators, operator) ? operators[operator]?.(left, right) : undefined
}

function ofTexts(combined: (a: string, b: string) => string | boolean): Operator {
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
