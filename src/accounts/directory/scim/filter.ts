// Filters (RFC 7644, section 3.4.2.2) and the paths of attributes, which are read by the same grammar.
//
//     filter     = term *("or" term)
//     term       = factor *("and" factor)
//     factor     = ["not"] "(" filter ")" / path comparison / path "[" filter "]" ["." part comparison]
//     comparison = "pr" / operator value

import { ScimFault } from './fault.ts'
import { findAttribute, findExtension, type Attribute, type ResourceType } from './schema.ts'
import { readOwn, type Resource } from './resource.ts'

const lengthMax = 4_096
const depthMax = 10

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
type Operator = (typeof operators)[number]
type Value = string | number | boolean | null

/** An attribute by its name, of a schema where one is named, and a part of it. */
export type Path = { readonly schema: string | null; readonly name: string; readonly part: string | null }

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly sides: readonly Filter[] }
  | { readonly kind: 'not'; readonly side: Filter }
  | { readonly kind: 'present'; readonly path: Path }
  | { readonly kind: 'compare'; readonly path: Path; readonly operator: Operator; readonly value: Value }
  | { readonly kind: 'within'; readonly path: Path; readonly filter: Filter }

type Token = { readonly kind: 'word' | 'text' | 'mark'; readonly text: string }

/** One pass, in which nothing is looked at twice: no text makes it slow. */
function* readTokens(text: string): Generator<Token> {
  const pattern = /\s+|([()[\]])|("(?:[^"\\]|\\.)*")|([\w.:$+-]+)/gy
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text)
    if (found === null) throw invalidFilter('something stands in it that is no word, text or bracket')
    const [, mark, quoted, word] = found
    if (mark !== undefined) yield { kind: 'mark', text: mark }
    if (quoted !== undefined) yield { kind: 'text', text: quoted }
    if (word !== undefined) yield { kind: 'word', text: word }
  }
}

export function parseFilter(type: ResourceType, text: string): Filter {
  const parser = new FilterParser(type, text)
  const filter = parser.readFilter()
  parser.requireEnd()
  return filter
}

/** The target of a change: an attribute, those of its values that a filter chooses, and a part of it. */
export type Target = { readonly path: Path; readonly filter: Filter | null }

export function parseTarget(type: ResourceType, text: string): Target {
  try {
    const parser = new FilterParser(type, text)
    const target = parser.readTarget()
    parser.requireEnd()
    return target
  } catch (error) {
    if (!(error instanceof ScimFault)) throw error
    throw new ScimFault(400, 'invalidPath', `This is no path of an attribute: ${text.slice(0, 200)}`)
  }
}

function invalidFilter(why: string): ScimFault {
  return new ScimFault(400, 'invalidFilter', `The filter cannot be read: ${why}.`)
}

class FilterParser {
  readonly #type: ResourceType
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(type: ResourceType, text: string) {
    if (text.length > lengthMax) throw invalidFilter(`it has more than ${lengthMax} characters`)
    this.#type = type
    this.#tokens = [...readTokens(text)]
  }

  requireEnd(): void {
    if (this.#next < this.#tokens.length) throw invalidFilter('it goes on where it should end')
  }

  readFilter(): Filter {
    this.#depth += 1
    if (this.#depth > depthMax) throw invalidFilter(`it is nested deeper than ${depthMax} levels`)
    const sides = [this.#readTerm()]
    while (this.#takeWord('or')) sides.push(this.#readTerm())
    this.#depth -= 1
    return combine('or', sides)
  }

  readTarget(): Target {
    const path = this.#readPath()
    if (!this.#takeMark('[')) return { path, filter: null }
    const filter = this.readFilter()
    this.#requireMark(']')
    const rest = this.#tokens[this.#next]
    if (rest?.kind !== 'word' || !rest.text.startsWith('.')) return { path, filter }
    this.#next += 1
    const part = /^\.([$A-Za-z][\w$-]*)$/.exec(rest.text)?.[1]
    if (part === undefined || path.part !== null) throw invalidFilter('a part has no name')
    return { path: { ...path, part }, filter }
  }

  #readTerm(): Filter {
    const sides = [this.#readFactor()]
    while (this.#takeWord('and')) sides.push(this.#readFactor())
    return combine('and', sides)
  }

  #readFactor(): Filter {
    const isNot = this.#tokens[this.#next + 1]?.text === '(' && this.#takeWord('not')
    if (this.#takeMark('(')) {
      const filter = this.readFilter()
      this.#requireMark(')')
      return isNot ? { kind: 'not', side: filter } : filter
    }
    const { path, filter } = this.readTarget()
    if (filter === null) return this.#readComparison(path)
    if (this.#tokens[this.#next - 1]?.text.startsWith('.') === true && path.part !== null) {
      // Entra looks for people by a part of values that it has chosen, as in emails[type eq "work"].value eq "…".
      const condition = this.#readComparison({ schema: null, name: path.part, part: null })
      return { kind: 'within', path: { ...path, part: null }, filter: combine('and', [filter, condition]) }
    }
    if (path.part === null && !this.#isOperatorNext()) return { kind: 'within', path, filter }
    throw invalidFilter('what stands in brackets is a whole condition')
  }

  #readComparison(path: Path): Filter {
    if (this.#takeWord('pr')) return { kind: 'present', path }
    const operator = operators.find((name) => this.#takeWord(name))
    if (operator === undefined) throw invalidFilter('an operator is missing')
    return { kind: 'compare', path, operator, value: this.#readValue() }
  }

  #isOperatorNext(): boolean {
    const word = this.#tokens[this.#next]
    return word?.kind === 'word' && operators.some((name) => name === word.text.toLowerCase())
  }

  #readPath(): Path {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'word') throw invalidFilter('the name of an attribute is missing')
    this.#next += 1
    return readPath(this.#type, token.text)
  }

  #readValue(): Value {
    const token = this.#tokens[this.#next]
    if (token === undefined || token.kind === 'mark') throw invalidFilter('a value is missing')
    this.#next += 1
    const text = token.kind === 'word' ? token.text.toLowerCase() : token.text
    try {
      return JSON.parse(text) as Value
    } catch {
      throw invalidFilter('a value is no text in quotes, number, true, false or null')
    }
  }

  #takeWord(word: string): boolean {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'word' || token.text.toLowerCase() !== word) return false
    this.#next += 1
    return true
  }

  #takeMark(mark: string): boolean {
    if (this.#tokens[this.#next]?.kind !== 'mark' || this.#tokens[this.#next]?.text !== mark) return false
    this.#next += 1
    return true
  }

  #requireMark(mark: string): void {
    if (!this.#takeMark(mark)) throw invalidFilter(`${mark} is missing`)
  }
}

function combine(kind: 'and' | 'or', sides: readonly Filter[]): Filter {
  const [first] = sides
  return sides.length === 1 && first !== undefined ? first : { kind, sides }
}

/** Splits `urn:…:User:name.givenName` into its schema, attribute and part. */
export function readPath(type: ResourceType, text: string): Path {
  if (findExtension(type, text) !== null) return { schema: text, name: '', part: null }
  const end = /^urn:/i.test(text) ? text.lastIndexOf(':') : -1
  const found = /^([$A-Za-z][\w$-]*)(?:\.([$A-Za-z][\w$-]*))?$/.exec(text.slice(end + 1))
  if (found === null) throw invalidFilter('an attribute has no such name')
  const schema = end < 0 ? null : text.slice(0, end)
  const isCore = schema?.toLowerCase() === type.schema.id.toLowerCase()
  return { schema: isCore ? null : schema, name: found[1] ?? '', part: found[2] ?? null }
}

/** Tells whether a resource is one that a filter asks for. */
export function matches(type: ResourceType, filter: Filter, resource: Resource): boolean {
  return holds(filter, (path) => valuesAt(type, resource, path))
}

/** Tells the same of one of the values of an attribute. */
export function matchesValue({ parts }: Attribute, filter: Filter, value: unknown): boolean {
  const holder = typeof value === 'object' && value !== null ? (value as Resource) : { value }
  return holds(filter, ({ name }) => {
    const attribute = findAttribute(parts, name)
    const found = listOf(readOwn(holder, name))
    return { values: found, attribute, wholes: found, whole: attribute }
  })
}

type Found = {
  /** What is compared. */
  readonly values: readonly unknown[]
  /** What these are; null where it is unknown. */
  readonly attribute: Attribute | null
  /** The values of which these are parts, or themselves. */
  readonly wholes: readonly unknown[]
  readonly whole: Attribute | null
}

function valuesAt(type: ResourceType, resource: Resource, { schema, name, part }: Path): Found {
  const extension = schema === null ? null : findExtension(type, schema)
  const holder = schema === null ? resource : readOwn(resource, schema)
  const attributes = schema === null ? type.attributes : (extension?.attributes ?? [])
  const whole = findAttribute(attributes, name)
  const wholes = listOf(name === '' ? holder : readOwn(holder, name))
  // Of values that have parts, `value` is meant.
  const wanted = part ?? (whole?.isMany === true && whole.type === 'complex' ? 'value' : null)
  if (wanted === null) return { values: wholes, attribute: whole, wholes, whole }
  const values = wholes.flatMap((value) => (typeof value === 'object' ? listOf(readOwn(value, wanted)) : [value]))
  return { values, attribute: whole && findAttribute(whole.parts, wanted), wholes, whole }
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function holds(filter: Filter, find: (path: Path) => Found): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.sides.every((side) => holds(side, find))
    case 'or':
      return filter.sides.some((side) => holds(side, find))
    case 'not':
      return !holds(filter.side, find)
    case 'present':
      return find(filter.path).values.some((value) => value !== '')
    case 'compare': {
      const { values, attribute } = find(filter.path)
      return compareAll(filter, values, attribute?.isCaseExact === true)
    }
    case 'within': {
      const { wholes, whole } = find(filter.path)
      return whole !== null && wholes.some((value) => matchesValue(whole, filter.filter, value))
    }
  }
}

function compareAll(
  { operator, value }: Extract<Filter, { kind: 'compare' }>,
  values: readonly unknown[],
  isCaseExact: boolean,
): boolean {
  if (value === null) return operator === 'eq' ? values.length === 0 : operator === 'ne' && values.length > 0
  if (operator === 'ne') return !values.some((one) => compare('eq', one, { value, isCaseExact }))
  return values.some((one) => compare(operator, one, { value, isCaseExact }))
}

type With = { readonly value: Exclude<Value, null>; readonly isCaseExact: boolean }

function compare(operator: Operator, one: unknown, { value, isCaseExact }: With): boolean {
  // Some directories write truth values as texts.
  if (typeof one === 'boolean') return operator === 'eq' && String(one) === String(value).toLowerCase()
  if (typeof one === 'number' && typeof value === 'number') return compareOrdered(operator, one, value)
  if (typeof one !== 'string' || typeof value !== 'string') return false
  const [left, right] = isCaseExact ? [one, value] : [one.toLowerCase(), value.toLowerCase()]
  if (operator === 'co') return left.includes(right)
  if (operator === 'sw') return left.startsWith(right)
  if (operator === 'ew') return left.endsWith(right)
  return compareOrdered(operator, left, right)
}

function compareOrdered<Kind extends string | number>(operator: Operator, left: Kind, right: Kind): boolean {
  switch (operator) {
    case 'eq':
      return left === right
    case 'gt':
      return left > right
    case 'ge':
      return left >= right
    case 'lt':
      return left < right
    case 'le':
      return left <= right
    default:
      return false
  }
}
