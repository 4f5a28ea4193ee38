import { checkSchema } from './schema/check-schema.ts'
import { compileArray } from './compile-array.ts'
import { compileInteger, compileNumber } from './compile-number.ts'
import { compileObject } from './compile-object.ts'
import { compileString } from './compile-string.ts'
import { compileValues, hasListedValues } from './compile-values.ts'
import type { Context, Relaxation } from './context.ts'
import { flattenParts } from './schema/flatten-parts.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import { anyBoolean, anyJsonValue, nullValue } from './json-rules.ts'
import { exclusiveBranches } from './one-of.ts'
import { SchemaFault } from './schema-fault.ts'
import { expandedNodesMax, partsMax, workMax } from './schema/schema-limits.ts'
import { type Choice, faultAt, impossible, listed, type Part, type SchemaObject, toPart } from './schema/schema-part.ts'
import { type JsonType, jsonTypes, typesOf, isImpossible } from './schema/schema-types.ts'

export { anyJsonObject, anyJsonValue } from './json-rules.ts'

type Job = { readonly parts: readonly Part[]; readonly name: string; readonly hint: string }

/**
 * Adds the rules of a schema and returns the name of the one that its values match.
 *
 * Every text that matches is JSON without white space around it and valid for
 * the schema; not every valid text matches. Throws a `SchemaFault` for a schema
 * with something the grammar cannot ensure, unless `onRelaxed` is given: then a
 * keyword that can be checked on the finished value is left out and reported.
 */
export function compileSchema(
  builder: GrammarBuilder,
  schema: SchemaObject,
  onRelaxed?: (relaxation: Relaxation) => void,
): string {
  const relax: Context['relax'] = (part, keyword, message) => {
    if (onRelaxed === undefined) throw faultAt(part, keyword, message)
    onRelaxed({ path: [...part.path, keyword], keyword })
  }
  for (const part of checkSchema(schema)) relax(part, 'maxItems', 'too much in the bounds around it')
  const rules = createRuleTable(builder)
  const context: Context = {
    builder,
    relax,
    spend: createSpend(),
    flatten: (parts) => flatten(schema, parts),
    value: (parts, hint) => {
      const flat = flatten(schema, parts)
      if (needsOwnRule(flat)) return rules.nameOf(flat, hint)
      const body = compileParts(context, flat, hint)
      return body.includes(' ') ? builder.rule(hint, body) : body
    },
  }
  const root = context.value([toPart(schema, [])], 'value')
  for (let job = rules.next(); job !== undefined; job = rules.next()) {
    builder.define(job.name, compileParts(context, job.parts, job.hint))
  }
  return root
}

function flatten(root: SchemaObject, parts: readonly Part[]): Part[] {
  const flat = flattenParts(root, parts)
  if (flat.length <= partsMax) return flat
  throw new SchemaFault(flat[0]?.path ?? [], 'allOf', `more than ${partsMax} schemas for one value`)
}

/** Bounds what a compilation may do, so that it takes milliseconds whatever the schema. */
function createSpend(): (amount: number) => void {
  let work = 0
  return (amount) => {
    work += amount
    if (work > workMax) throw new SchemaFault([], null, 'the schema is too complex')
  }
}

/** Whether the rule of a value refers to others, so that it may be part of a recursion. */
function needsOwnRule(parts: readonly Part[]): boolean {
  if (parts.some(({ pending }) => pending.length > 0)) return true
  if (hasListedValues(parts)) return false
  const types = typesOf(parts)
  return types !== null && (types.has('object') || types.has('array'))
}

/**
 * Names rules before they are made, one for each set of parts.
 *
 * A recursive schema comes back to a set it has a name for. The bodies are made
 * one after the other from a list, so no depth of the schema becomes one of the stack.
 */
function createRuleTable(builder: GrammarBuilder) {
  const ids = new Map<unknown, number>()
  const names = new Map<string, string>()
  const jobs: Job[] = []

  function nameOf(parts: readonly Part[], hint: string): string {
    const key = parts.map((part) => `${idOf(part.schema)}${part.pending.join()}`).join(' ')
    const known = names.get(key)
    if (known !== undefined) return known
    if (names.size >= expandedNodesMax) throw new SchemaFault(parts[0]?.path ?? [], null, 'the schema is too large')
    const name = builder.declare(hint)
    names.set(key, name)
    jobs.push({ parts, name, hint })
    return name
  }

  function idOf(schema: unknown): number {
    const id = ids.get(schema) ?? ids.size
    ids.set(schema, id)
    return id
  }

  return { nameOf, next: () => jobs.pop() }
}

function compileParts(context: Context, parts: readonly Part[], hint: string): string {
  if (isImpossible(parts)) throw impossible(parts)
  const chooser = parts.find(({ pending }) => pending.length > 0)
  if (chooser !== undefined) return compileChoice(context, { parts, chooser }, hint)
  if (hasListedValues(parts)) return compileValues(context, parts, hint)
  const types = typesOf(parts)
  if (types === null) return anyJsonValue(context.builder)
  const named = jsonTypes.filter((type) => types.has(type))
  return named.map((type) => compileType(context, parts, { type, hint })).join(' | ')
}

type Choosing = { readonly parts: readonly Part[]; readonly chooser: Part }

/** The alternatives of an `anyOf` or `oneOf`, each joined with what stands beside it. */
function compileChoice(context: Context, { parts, chooser }: Choosing, hint: string): string {
  const [choice = 'anyOf', ...pending] = chooser.pending
  const beside = parts.map((part) => (part === chooser ? { ...part, pending } : part))
  const branches = listed(chooser, choice).map((branch) => context.flatten([...beside, branch]))
  const possible = branches.filter((branch) => !isImpossible(branch))
  if (possible.length === 0) throw impossible([chooser])
  const alternatives = choice === 'oneOf' ? exclusive(context, chooser, possible) : possible
  return [...new Set(alternatives.map((branch) => context.value(branch, hint)))].join(' | ')
}

function exclusive(context: Context, chooser: Part, branches: readonly Part[][]): readonly Part[][] {
  const alternatives = exclusiveBranches(context, branches)
  if (alternatives !== null) return alternatives
  const choice: Choice = 'oneOf'
  context.relax(
    chooser,
    choice,
    'the alternatives may hold together; use "anyOf", or a property whose value tells them apart',
  )
  return branches
}

function compileType(
  context: Context,
  parts: readonly Part[],
  { type, hint }: { type: JsonType; hint: string },
): string {
  switch (type) {
    case 'object':
      return compileObject(context, parts, hint)
    case 'array':
      return compileArray(context, parts, hint)
    case 'string':
      return compileString(context, parts, hint)
    case 'number':
      return compileNumber(context, parts, hint)
    case 'integer':
      return compileInteger(context, parts, hint)
    case 'boolean':
      return anyBoolean(context.builder)
    case 'null':
      return nullValue(context.builder)
  }
}
