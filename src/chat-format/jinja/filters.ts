// Filters and tests of Jinja that the library lacks, or has for some types only.

import { combine } from './python-values.ts'
import {
  isList,
  isMapping,
  printed,
  toList,
  toMapping,
  toPlain,
  toRuntime,
  type RuntimeValue,
} from './runtime-values.ts'

export type Filter = (operand: RuntimeValue, args: readonly RuntimeValue[], context: FilterContext) => RuntimeValue

/** What a filter needs that applies another filter or a test to each item. */
export type FilterContext = {
  readonly named: ReadonlyMap<string, RuntimeValue>
  apply(name: string, operand: RuntimeValue, args: readonly RuntimeValue[]): RuntimeValue
  passes(name: string, operand: RuntimeValue, args: readonly RuntimeValue[]): boolean
}

const text = (value: RuntimeValue | undefined) => (value === undefined ? '' : printed(toPlain(value)))

function itemsOf(operand: RuntimeValue): readonly RuntimeValue[] {
  if (isList(operand)) return operand.value
  if (isMapping(operand)) return [...operand.value.keys()].map(toRuntime)
  if (typeof operand.value === 'string') return [...operand.value].map(toRuntime)
  return []
}

function member(value: RuntimeValue, path: string): RuntimeValue {
  return path
    .split('.')
    .reduce((found, key) => (isMapping(found) ? found.value.get(key) : undefined) ?? toRuntime(undefined), value)
}

const order = (a: RuntimeValue, b: RuntimeValue) => {
  const [one, two] = [toPlain(a), toPlain(b)]
  if (typeof one === 'number' && typeof two === 'number') return one - two
  return printed(one) < printed(two) ? -1 : printed(one) > printed(two) ? 1 : 0
}

const pick =
  (keeps: boolean, ofAttribute: boolean): Filter =>
  (operand, args, { passes }) => {
    const rest = ofAttribute ? args.slice(1) : args
    const test = rest[0] === undefined ? null : text(rest[0])
    const kept = itemsOf(operand).filter((item) => {
      const seen = ofAttribute ? member(item, text(args[0])) : item
      return (test === null ? seen.__bool__().value : passes(test, seen, rest.slice(1))) === keeps
    })
    return toList(kept)
  }

export const filters: Readonly<Record<string, Filter>> = {
  min: (operand) => itemsOf(operand).toSorted(order)[0] ?? toRuntime(undefined),
  max: (operand) => itemsOf(operand).toSorted(order).at(-1) ?? toRuntime(undefined),
  sum: (operand, [attribute]) => {
    const seen = itemsOf(operand).map((item) => (attribute === undefined ? item : member(item, text(attribute))))
    return toRuntime(seen.reduce((total, item) => total + Number(toPlain(item)), 0))
  },
  count: (operand) => toRuntime(itemsOf(operand).length),
  length: (operand) => toRuntime(itemsOf(operand).length),
  first: (operand) => itemsOf(operand)[0] ?? toRuntime(undefined),
  last: (operand) => itemsOf(operand).at(-1) ?? toRuntime(undefined),
  list: (operand) => toList(itemsOf(operand)),
  reverse: (operand) =>
    typeof operand.value === 'string'
      ? toRuntime([...operand.value].toReversed().join(''))
      : toList(itemsOf(operand).toReversed()),
  sort: (operand) => toList(itemsOf(operand).toSorted(order)),
  unique: (operand) => {
    const seen = new Map(itemsOf(operand).map((item) => [JSON.stringify(toPlain(item)), item] as const))
    return toList([...seen.values()])
  },
  items: (operand) => {
    const pairs = isMapping(operand) ? [...operand.value] : []
    return toList(pairs.map(([key, value]) => toList([toRuntime(key), value])))
  },
  string: (operand) => toRuntime(text(operand)),
  format: (operand, values) => combine('%', operand, toList(values)) ?? operand,
  trim: (operand) => toRuntime(text(operand).trim()),
  lower: (operand) => toRuntime(text(operand).toLowerCase()),
  upper: (operand) => toRuntime(text(operand).toUpperCase()),
  replace: (operand, [old, next]) => toRuntime(text(operand).replaceAll(text(old), text(next))),
  join: (operand, [separator]) => toRuntime(itemsOf(operand).map(text).join(text(separator))),
  int: (operand, [fallback]) =>
    toRuntime(Math.trunc(Number(toPlain(operand))) || Number(toPlain(fallback ?? toRuntime(0)))),
  float: (operand) => toRuntime(Number(toPlain(operand)) || 0),
  abs: (operand) => toRuntime(Math.abs(Number(toPlain(operand)))),
  round: (operand, [digits]) => {
    const scale = 10 ** Number(digits === undefined ? 0 : toPlain(digits))
    return toRuntime(Math.round(Number(toPlain(operand)) * scale) / scale)
  },
  wordcount: (operand) => toRuntime(text(operand).match(/\S+/g)?.length ?? 0),
  urlencode: (operand) => toRuntime(encodeURIComponent(text(operand))),
  bool: (operand) => toRuntime(operand.__bool__().value),
  from_json: (operand) => toRuntime(JSON.parse(text(operand)) as unknown),
  fromjson: (operand) => toRuntime(JSON.parse(text(operand)) as unknown),
  // Nothing here is shown in a browser, so that there is nothing to escape for.
  escape: (operand) => operand,
  e: (operand) => operand,
  safe: (operand) => operand,
  attr: (operand, [name]) => member(operand, text(name)),
  select: pick(true, false),
  reject: pick(false, false),
  selectattr: pick(true, true),
  rejectattr: pick(false, true),
  map: (operand, args, { named, apply }) => {
    const attribute = named.get('attribute')
    const [name, ...rest] = args
    return toList(
      itemsOf(operand).map((item) =>
        attribute === undefined
          ? apply(text(name), item, rest)
          : orElse(member(item, text(attribute)), named.get('default')),
      ),
    )
  },
  groupby: (operand, [attribute]) => {
    const groups = Map.groupBy(itemsOf(operand), (item) => text(member(item, text(attribute))))
    const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return toList(sorted.map(([key, items]) => toList([toRuntime(key), toList(items)])))
  },
  batch: (operand, [size]) => {
    const [items, length] = [itemsOf(operand), Math.max(1, Number(toPlain(size ?? toRuntime(1))))]
    const starts = items.flatMap((_, index) => (index % length === 0 ? [index] : []))
    return toList(starts.map((start) => toList(items.slice(start, start + length))))
  },
  dictsort: (operand) => {
    const pairs = isMapping(operand) ? [...operand.value] : []
    const keyed = pairs.map(([key, value]) => [toRuntime(/^-?\d+$/u.test(key) ? Number(key) : key), value] as const)
    return toList(keyed.toSorted(([a], [b]) => order(a, b)).map((pair) => toList(pair)))
  },
  combine: (operand, others) =>
    toMapping([operand, ...others].flatMap((one) => (isMapping(one) ? [...one.value] : []))),
}

function orElse(value: RuntimeValue, fallback: RuntimeValue | undefined): RuntimeValue {
  return value.value === undefined && fallback !== undefined ? fallback : value
}

type Test = (operand: RuntimeValue, args: readonly RuntimeValue[]) => boolean

const same = (a: RuntimeValue, b: RuntimeValue | undefined) =>
  JSON.stringify(toPlain(a)) === JSON.stringify(b === undefined ? undefined : toPlain(b))

export const tests: Readonly<Record<string, Test>> = {
  eq: (operand, [other]) => same(operand, other),
  equalto: (operand, [other]) => same(operand, other),
  '==': (operand, [other]) => same(operand, other),
  ne: (operand, [other]) => !same(operand, other),
  '!=': (operand, [other]) => !same(operand, other),
  in: (operand, [list]) => list !== undefined && itemsOf(list).some((item) => same(item, operand)),
  iterable: (operand) => isList(operand) || isMapping(operand) || typeof operand.value === 'string',
  float: (operand) => operand.type === 'FloatValue',
  sameas: (operand, [other]) => operand.value === other?.value,
  gt: (operand, [other]) => other !== undefined && order(operand, other) > 0,
  lt: (operand, [other]) => other !== undefined && order(operand, other) < 0,
  ge: (operand, [other]) => other !== undefined && order(operand, other) >= 0,
  le: (operand, [other]) => other !== undefined && order(operand, other) <= 0,
  divisibleby: (operand, [other]) => Number(toPlain(operand)) % Number(other === undefined ? 1 : toPlain(other)) === 0,
}
