// Small changes of a program, each of which a test should notice: a condition turned around or made constant, another
// operator, another method, a step left out.

import { parseSync } from '@swc/core'

export type Mutant = {
  readonly file: string
  readonly line: number
  readonly kind: string
  /** In characters of the text. */
  readonly start: number
  readonly end: number
  readonly from: string
  readonly to: string
}

type Node = { readonly type: string; readonly span: { readonly start: number; readonly end: number } } & Readonly<
  Record<string, unknown>
>
type Change = Pick<Mutant, 'kind' | 'start' | 'end' | 'to'>

/** Stands before the text, so that the parser tells where it counts from. */
const prefix = '0;'

const otherOperator: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
}
const otherMethod: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    min: 'max',
    max: 'min',
  }),
)

export function findMutants(file: string, text: string): readonly Mutant[] {
  const { body } = parse(prefix + text) as unknown as { readonly body: readonly Node[] }
  const base = body[0]?.span.start ?? 1
  const places = characterPlaces(text)
  // The parser counts bytes.
  const place = (offset: number) => places[offset - base - prefix.length] ?? text.length
  const changes: Change[] = []
  for (const statement of body.slice(1)) {
    visit(statement, (node) => changes.push(...changesOf(node, { text, place })))
  }
  return changes
    .map(({ start, end, kind, to }) => {
      return { file, kind, start, end, to, from: text.slice(start, end), line: text.slice(0, start).split('\n').length }
    })
    .filter((mutant) => mutant.from !== mutant.to && isProgram(applyMutant(text, mutant)))
}

export function applyMutant(text: string, { start, end, to }: Pick<Mutant, 'start' | 'end' | 'to'>): string {
  return text.slice(0, start) + to + text.slice(end)
}

function parse(text: string) {
  return parseSync(text, { syntax: 'typescript', target: 'esnext' })
}

function isProgram(text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

/** For each byte the character that it belongs to. */
function characterPlaces(text: string): readonly number[] {
  const places: number[] = []
  let at = 0
  for (const character of text) {
    for (let byte = Buffer.byteLength(character); byte > 0; byte -= 1) places.push(at)
    at += character.length
  }
  places.push(at)
  return places
}

/** Types are no part of the running program, and imports and exports only name things. */
function isPassedOver({ type }: Node): boolean {
  return (type.startsWith('Ts') && !/^Ts(?:As|Satisfies|NonNull)/.test(type)) || /^(?:Import|ExportNamed)/.test(type)
}

function visit(node: Node, look: (node: Node) => void): void {
  if (isPassedOver(node)) return
  look(node)
  for (const value of Object.values(node)) {
    for (const inner of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (typeof inner !== 'object' || inner === null) continue
      // Arguments and parts of chains are wrapped in objects that are no nodes themselves.
      if ('type' in inner && 'span' in inner) visit(inner as Node, look)
      else if ('expression' in inner) visit(inner.expression as Node, look)
    }
  }
}

type Source = { readonly text: string; place(offset: number): number }

function changesOf(node: Node, source: Source): readonly Change[] {
  switch (node.type) {
    case 'BinaryExpression':
      return operatorChanges(node, source)
    case 'UnaryExpression':
      return node['operator'] === '!' ? [replace(node, source, textOf(node['argument'] as Node, source))] : []
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((to) => replace(node['test'] as Node, source, to))
    case 'BooleanLiteral':
      return [replace(node, source, String(node['value'] !== true))]
    case 'ExpressionStatement':
      return [replace(node, source, ';')]
    case 'CallExpression':
      return callChanges(node, source)
    default:
      return []
  }
}

function textOf({ span }: Node, { text, place }: Source): string {
  return text.slice(place(span.start), place(span.end))
}

function replace({ type, span }: Node, { place }: Source, to: string): Change {
  return { kind: `${type} to ${to.slice(0, 20)}`, start: place(span.start), end: place(span.end), to }
}

function operatorChanges(node: Node, source: Source): readonly Change[] {
  const [left, right] = [node['left'] as Node, node['right'] as Node]
  const operator = String(node['operator'])
  const other = otherOperator[operator]
  const isText = [left, right].some(({ type }) => /^(?:StringLiteral|TemplateLiteral)$/.test(type))
  if (other === undefined || (operator === '+' && isText)) return []
  const from = source.place(left.span.end)
  const start = source.text.indexOf(operator, from)
  if (start === -1 || start >= source.place(right.span.start)) return []
  return [{ kind: `${operator} to ${other}`, start, end: start + operator.length, to: other }]
}

function callChanges(node: Node, source: Source): readonly Change[] {
  const callee = node['callee'] as Node
  const property = callee['property'] as Node | undefined
  if (callee.type !== 'MemberExpression' || property?.type !== 'Identifier') return []
  const name = String(property['value'])
  const other = otherMethod.get(name)
  if (other !== undefined) return [{ ...replace(property, source, other), kind: `.${name} to .${other}` }]
  const isLeftOut = name === 'filter' || name === 'trim' || name === 'toLowerCase'
  return isLeftOut ? [{ ...replace(node, source, textOf(callee['object'] as Node, source)), kind: `no .${name}` }] : []
}
