// Jinja as chat templates use it: the library's interpreter, and what it lacks of the language.
// A template was written for the Python library, and what runs there has to run here.

import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { filters, tests } from './filters.ts'
import { freeNames } from './free-names.ts'
import { locateFault, type Node } from './locate-fault.ts'
import { combine, methodOf } from './python-values.ts'
import { isMapping, type RuntimeValue, toMapping, toRuntime } from './runtime-values.ts'

/** The library's interpreter with the methods that its type keeps to itself. */
type OpenInterpreter = {
  run(program: unknown): RuntimeValue
  evaluate(node: Node | undefined, scope: Environment): RuntimeValue
  evaluateFor(node: Node, scope: Environment): RuntimeValue
  evaluateSet(node: Node, scope: Environment): RuntimeValue
  evaluateBinaryExpression(node: Node, scope: Environment): RuntimeValue
  evaluateMemberExpression(node: Node, scope: Environment): RuntimeValue
  evaluateTestExpression(node: Node, scope: Environment): RuntimeValue
  evaluateArguments(nodes: readonly Node[], scope: Environment): [RuntimeValue[], Map<string, RuntimeValue>]
  applyFilter(operand: RuntimeValue, filter: Node, scope: Environment): RuntimeValue
}

const Library = Interpreter as unknown as new (scope: Environment) => OpenInterpreter

export type JinjaTemplate = {
  /** What it reads without setting it, the functions of the language left out. */
  readonly freeNames: readonly string[]
  /** `now` is the time that a template may ask for. Throws a JinjaFault. */
  render(variables: Readonly<Record<string, unknown>>, now?: Date): string
}

/** The template does not render: it says so itself, or it has a fault. */
export class JinjaFault extends Error {
  override readonly name = 'JinjaFault'
  /** Counts from one; null where no line can be told. */
  readonly line: number | null

  constructor(message: string, line: number | null, options: ErrorOptions) {
    super(message, options)
    this.line = line
  }
}

/** Throws a JinjaFault where the source is no template. */
export function compileJinja(source: string): JinjaTemplate {
  const program = parseOrRefuse(source)
  return {
    freeNames: freeNames(program).filter((name) => !Object.hasOwn(globals, name) && !ownNames.has(name)),
    render(variables, now = new Date()) {
      const scope = new Environment()
      // A template that asks twice, for the date and for the day of the week, is told of one moment.
      const clock = { strftime_now: (pattern: string) => formatTime(now, pattern) }
      for (const [name, value] of Object.entries({ ...globals, ...clock, ...variables })) scope.set(name, value)
      const interpreter = new ChatInterpreter(scope)
      try {
        return String(interpreter.run(program).value)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        throw new JinjaFault(message, locateFault(source, interpreter.faultyNode(error)), { cause: error })
      }
    },
  }
}

function parseOrRefuse(source: string): unknown {
  const parsed = tryParse(source)
  if (typeof parsed !== 'string') return parsed.program
  // The parser tells no place: the fault is in the first line with which it comes up.
  const lines = source.split('\n')
  const line = lines.findIndex((_, index) => tryParse(lines.slice(0, index + 1).join('\n')) === parsed)
  throw new JinjaFault(parsed, line === -1 ? null : line + 1, {})
}

/** The parsed template, or what is wrong with it. */
function tryParse(source: string): { readonly program: unknown } | string {
  try {
    return { program: parse(tokenize(inKnownWords(source), { lstrip_blocks: true, trim_blocks: true })) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Says in the library's words what its parser does not know: `raw`, whose text becomes a string, `do`, whose value is
 * thrown away, `with`, whose names stay, and `is in`. Lines end as the language has them, whatever the file has.
 */
function inKnownWords(source: string): string {
  const text = source.replace(/\r\n?/gu, '\n')
  let known = ''
  let position = 0
  for (const { 0: whole, index, groups = {} } of text.matchAll(rawText)) {
    known += inKnownTags(text.slice(position, index)) + asString(groups)
    position = index + whole.length
  }
  return known + inKnownTags(text.slice(position))
}

function inKnownTags(source: string): string {
  const tags = /\{\{[^]*?\}\}|\{%[^]*?%\}/gu
  return source.replace(tags, (tag) =>
    tag
      .replace(/^\{([%{])\+/u, '{$1')
      .replace(/\+([%}])\}$/u, '$1}')
      .replace(/^\{%(-?)\s*do\s/u, '{%$1 set do_result = ')
      .replace(/^\{%(-?)\s*endwith\s*(-?)%\}/u, '{%$1 if false $2%}{% endif %}')
      .replace(/^\{%(-?)\s*with\s([^]*?)(-?)%\}/u, (_, before: string, names: string, after: string) =>
        names
          .split(/,(?=\s*\w+\s*=[^=])/u)
          .map((name) => `{%${before} set ${name} ${after}%}`)
          .join(''),
      )
      .replace(/\bis\s+((?:not\s+)?in)\b/gu, '$1'),
  )
}

/** A line break behind the end is a part of it, as it is behind any other block. */
const rawText =
  /\{%(?<before>[-+]?)\s*raw\s*(?<first>-?)%\}(?<inside>[^]*?)\{%(?<last>[-+]?)\s*endraw\s*(?:(?<after>[-+])%\}|%\}\n?)/gu

function asString({ before, first, inside = '', last, after }: Readonly<Record<string, string>>): string {
  const begun = first === '-' ? inside.trimStart() : inside
  const text = last === '-' ? begun.trimEnd() : begun
  const written = text.replace(/[\\"]/gu, String.raw`\$&`)
  return `{{${before === '-' ? '-' : ''} "${written}" ${after === '-' ? '-' : ''}}}`
}

const globals: Readonly<Record<string, unknown>> = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  range: (start: number, stop?: number, step = 1) => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop]
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step)
  },
  raise_exception: (message: string) => {
    throw new Error(message)
  },
}

/** Names that the language, or whoever renders, gives a meaning to. */
const ownNames = new Set(['loop', 'namespace', 'caller', 'self', 'super', 'strftime_now'])

class ChatInterpreter extends Library {
  readonly #faults = new WeakMap<object, Node>()

  /** The innermost part of the template that an error came from. */
  faultyNode(error: unknown): Node | null {
    return (typeof error === 'object' && error !== null && this.#faults.get(error)) || null
  }

  override evaluate(node: Node | undefined, scope: Environment): RuntimeValue {
    try {
      if (node?.type === 'Evaluated') return node['value'] as RuntimeValue
      // Python unpacks a tuple like a list, which is all that the library can unpack.
      if (node?.type === 'TupleLiteral') return super.evaluate({ ...node, type: 'ArrayLiteral' }, scope)
      if (node?.type === 'ObjectLiteral') return this.#mapping(node, scope)
      return super.evaluate(node, scope)
    } catch (error) {
      if (node !== undefined && error instanceof Error && !this.#faults.has(error)) this.#faults.set(error, node)
      throw error
    }
  }

  #mapping(node: Node, scope: Environment): RuntimeValue {
    const members = [...(node['value'] as ReadonlyMap<Node, Node>)]
    return toMapping(
      members.map(([key, member]) => [String(this.evaluate(key, scope).value), this.evaluate(member, scope)]),
    )
  }

  override evaluateFor(node: Node, scope: Environment): RuntimeValue {
    try {
      return super.evaluateFor(node, scope)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('Expected iterable')) || this.#faults.has(error))
        throw error
      const { value } = this.evaluate(node['iterable'] as Node, scope)
      const items = typeof value === 'string' ? [...value].map((text) => ({ type: 'StringLiteral', value: text })) : []
      return super.evaluateFor({ ...node, iterable: { type: 'ArrayLiteral', value: items } }, scope)
    }
  }

  /** Gives a member of a mapping a value, as llama.cpp lets templates do with messages, and Python with namespaces alone. */
  override evaluateSet(node: Node, scope: Environment): RuntimeValue {
    const { type, object, property } = node['assignee'] as Node
    const changed = type === 'MemberExpression' ? this.evaluate(object as Node, scope) : null
    if (changed?.type !== 'ObjectValue' || !isMapping(changed) || !isPresent(node['value']))
      return super.evaluateSet(node, scope)
    changed.value.set(String((property as Node)['value']), this.evaluate(node['value'], scope))
    return toRuntime('')
  }

  override evaluateMemberExpression(node: Node, scope: Environment): RuntimeValue {
    const property = node['property'] as Node
    const isNamed = node['computed'] !== true && property.type === 'Identifier'
    try {
      const found = super.evaluateMemberExpression(node, scope)
      if (found.type !== 'UndefinedValue' || !isNamed) return found
      return methodOf(this.evaluate(node['object'] as Node, scope), String(property['value'])) ?? found
    } catch (error) {
      if (error instanceof Error && this.#faults.has(error)) throw error
      const object = this.evaluate(node['object'] as Node, scope)
      if (!isMapping(object) || node['computed'] !== true) throw error
      return object.value.get(String(this.evaluate(property, scope).value)) ?? toRuntime(undefined)
    }
  }

  override evaluateBinaryExpression(node: Node, scope: Environment): RuntimeValue {
    const { value: operator } = node['operator'] as { readonly value: string }
    if (operator === 'and' || operator === 'or') return super.evaluateBinaryExpression(node, scope)
    const left = this.evaluate(node['left'] as Node, scope)
    const right = this.evaluate(node['right'] as Node, scope)
    const found = combine(operator, left, right)
    if (found !== undefined) return found
    // The operands are done already; what they were is given as if it stood in the template.
    const wrap = (value: RuntimeValue): Node => ({ type: 'Evaluated', value })
    return super.evaluateBinaryExpression({ ...node, left: wrap(left), right: wrap(right) }, scope)
  }

  override evaluateTestExpression(node: Node, scope: Environment): RuntimeValue {
    const name = String((node['test'] as Node)['value'])
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined
    if (test === undefined || name === 'eq') return super.evaluateTestExpression(node, scope)
    const passes = test(this.evaluate(node['operand'] as Node, scope), [])
    return toRuntime(passes !== (node['negate'] === true))
  }

  override applyFilter(operand: RuntimeValue, filter: Node, scope: Environment): RuntimeValue {
    const isCall = filter.type === 'CallExpression'
    const name = String(((isCall ? filter['callee'] : filter) as Node)['value'])
    const own = Object.hasOwn(filters, name) ? filters[name] : undefined
    try {
      if (name !== 'dictsort') return super.applyFilter(operand, filter, scope) ?? toRuntime(undefined)
    } catch (error) {
      if (own === undefined || (error instanceof Error && this.#faults.has(error))) throw error
    }
    if (own === undefined) return super.applyFilter(operand, filter, scope)
    const [args, named] = isCall ? this.evaluateArguments(filter['args'] as Node[], scope) : [[], new Map()]
    return own(operand, args, {
      named,
      apply: (other, item, given) => this.#applyNamed(other, item, given, scope),
      passes: (test, item, given) => this.#passes(test, item, given, scope),
    })
  }

  #applyNamed(name: string, item: RuntimeValue, args: readonly RuntimeValue[], scope: Environment): RuntimeValue {
    const own = Object.hasOwn(filters, name) ? filters[name] : undefined
    if (own === undefined || name === 'tojson')
      return this.applyFilter(item, { type: 'Identifier', value: name }, scope)
    return own(item, args, {
      named: new Map(),
      apply: (other, one, given) => this.#applyNamed(other, one, given, scope),
      passes: (test, one, given) => this.#passes(test, one, given, scope),
    })
  }

  #passes(name: string, item: RuntimeValue, args: readonly RuntimeValue[], scope: Environment): boolean {
    const own = Object.hasOwn(tests, name) ? tests[name] : undefined
    if (own !== undefined) return own(item, args)
    const known = scope.tests as ReadonlyMap<string, (...values: RuntimeValue[]) => boolean>
    return known.get(name)?.(item, ...args) ?? false
  }
}

function isPresent(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** A time in the notation of C's strftime, as far as templates ask for it. */
export function formatTime(time: Date, pattern: string): string {
  const name = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(time)
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = time.getHours() % 12 === 0 ? 12 : time.getHours() % 12
  const parts: Readonly<Record<string, () => string>> = {
    Y: () => String(time.getFullYear()),
    y: () => two(time.getFullYear() % 100),
    m: () => two(time.getMonth() + 1),
    B: () => name({ month: 'long' }),
    b: () => name({ month: 'short' }),
    d: () => two(time.getDate()),
    e: () => String(time.getDate()).padStart(2),
    A: () => name({ weekday: 'long' }),
    a: () => name({ weekday: 'short' }),
    H: () => two(time.getHours()),
    I: () => two(hours),
    M: () => two(time.getMinutes()),
    S: () => two(time.getSeconds()),
    p: () => (time.getHours() < 12 ? 'AM' : 'PM'),
    Z: () => '',
    '%': () => '%',
  }
  return pattern.replace(/%(-?)([a-zA-Z%])/gu, (whole, plain: string, part: string) => {
    const written = parts[part]?.() ?? whole
    return plain === '' ? written : written.replace(/^[0 ](?=.)/u, '')
  })
}
