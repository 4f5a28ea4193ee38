import { checkSchema } from './schema/check-schema.ts'
import { compileArray } from './compile-array.ts'
import { compileInteger, compileNumber } from './compile-number.ts'
import { compileObject } from './compile-object.ts'
import { compileString } from './compile-string.ts'
import { compileValues, hasListedValues } from './compile-values.ts'
import type { Body, Context, Relaxation, Relax } from './context.ts'
import { flattenParts } from './schema/references.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import { anyBoolean, anyJsonValue, nullValue } from './json-rules.ts'
import { createLeastLengths, type NamedParts } from './least-lengths.ts'
import { lacksRequired } from './object-properties.ts'
import { exclusiveBranches, mayContradict } from './one-of.ts'
import { ImpossibleSchema, SchemaFault, type SchemaPath } from './schema-fault.ts'
import { expandedNodesMax, mergeWork, partsMax, workMax } from './schema/schema-limits.ts'
import { type Choice, faultAt, impossible, listed, type Part, type SchemaObject, toPart } from './schema/schema-part.ts'
import { isImpossible, type JsonType, jsonTypes, typesOf } from './schema/schema-types.ts'
import { createImpossibleValues, type ImpossibleValues, MoreImpossible } from './schema/impossible-values.ts'

export { anyJsonObject, anyJsonValue } from './json-rules.ts'

/** Where a schema stands: its references begin at the root. */
export type SchemaLocation = { readonly root: SchemaObject; readonly path: SchemaPath }

/**
 * Adds the rules of a schema and returns the name of the one that its values match.
 *
 * Every text that matches is JSON without white space around it and valid for
 * the schema; not every valid text matches. Throws a `SchemaFault` for a schema
 * with something the grammar cannot ensure, unless `onRelaxed` is given: then
 * that keyword is left out and reported, maybe several times. What is malformed,
 * too large or impossible to satisfy is a fault always; alternatives, optional
 * properties and items that are impossible are left out where something remains.
 */
export function compileSchema(
  builder: GrammarBuilder,
  schema: SchemaObject,
  onRelaxed?: (relaxation: Relaxation) => void,
  { root, path }: SchemaLocation = { root: schema, path: [] },
): string {
  const first = toPart(schema, path)
  const shared = createShared(builder)
  checkSchema(root, first, relaxWith(onRelaxed))
  for (;;) {
    try {
      return builder.attempt(() => compileOnce(compilationOf(builder, root, onRelaxed, shared), first))
    } catch (error) {
      if (!(error instanceof MoreImpossible)) throw error
    }
  }
}

type Compilation = ReturnType<typeof compilationOf>

/** One pass over a schema. Throws `MoreImpossible` where it has met values that the next one has to leave out. */
function compileOnce({ context, rules, leastLengths, impossibles }: Compilation, first: Part): string {
  const value = context.value([first], 'value')
  for (let job = rules.next(); job !== undefined; job = rules.next()) {
    const { parts, hint } = job
    const bodies = unlessImpossible(impossibles, parts, () => compileParts(context, parts, hint)) ?? []
    if (bodies.length > 0) context.builder.define(job.name, alternatives(bodies))
    leastLengths.add(job, bodies)
  }
  for (const { parts } of leastLengths.unending()) {
    impossibles.add(parts, new ImpossibleSchema(parts[0]?.path ?? [], 'only an endless value can satisfy this schema'))
  }
  impossibles.endPass(context.flatten([first]))
  return value
}

/** Null for parts that turn out to be impossible. */
function unlessImpossible<Result>(
  impossibles: ImpossibleValues,
  parts: readonly Part[],
  make: () => Result,
): Result | null {
  try {
    return make()
  } catch (error) {
    if (!impossibles.isOf(error, parts)) throw error
    impossibles.add(parts, error)
    return null
  }
}

type Shared = Pick<Context, 'spend' | 'objectParts' | 'patterns' | 'omissions'> & {
  readonly impossibles: ImpossibleValues
}

/** What the passes over one schema have in common. */
function createShared(builder: GrammarBuilder): Shared {
  return {
    spend: createSpend(builder),
    objectParts: new Map(),
    patterns: new Map(),
    omissions: new Map(),
    impossibles: createImpossibleValues(),
  }
}

function relaxWith(onRelaxed?: (relaxation: Relaxation) => void): Relax {
  return (part, keyword, message) => {
    if (onRelaxed === undefined) throw faultAt(part, keyword, message)
    onRelaxed({ path: [...part.path, keyword], keyword })
  }
}

/** What the compilation of one schema works with. */
export function compilationOf(
  builder: GrammarBuilder,
  root: SchemaObject,
  onRelaxed?: (relaxation: Relaxation) => void,
  { impossibles, ...shared }: Shared = createShared(builder),
) {
  const rules = createRuleTable(builder, impossibles)
  const context: Context = {
    builder,
    isLenient: onRelaxed !== undefined,
    relax: relaxWith(onRelaxed),
    ...shared,
    nameRules: new Map(),
    listedBodies: new Map(),
    isImpossible: impossibles.has,
    flatten: (parts) => flatten(root, parts),
    value: (parts, hint) => {
      const flat = flatten(root, parts)
      if (flat.length > 1) shared.spend(mergeWork * flat.length)
      if (needsOwnRule(flat)) return rules.nameOf(flat, hint)
      const bodies = unlessImpossible(impossibles, flat, () => compileParts(context, flat, hint))
      if (bodies === null) {
        const name = builder.declare(hint)
        leastLengths.add({ name, parts: flat }, [])
        return name
      }
      const [only] = bodies
      const text = bodies.length === 1 && only !== undefined ? only.text : builder.rule(hint, alternatives(bodies))
      leastLengths.addInline(text, bodies)
      return text
    },
  }
  const leastLengths = createLeastLengths()
  return { context, rules, leastLengths, impossibles }
}

function alternatives(bodies: readonly Body[]): string {
  return bodies.map(({ text }) => text).join(' | ')
}

function flatten(root: SchemaObject, parts: readonly Part[]): Part[] {
  const flat = flattenParts(root, parts)
  if (flat.length <= partsMax) return flat
  throw new SchemaFault(flat[0]?.path ?? [], 'allOf', `more than ${partsMax} schemas for one value`)
}

/** Bounds what a compilation may do, so that it takes milliseconds whatever the schema. */
function createSpend(builder: GrammarBuilder): (amount: number) => void {
  let work = 0
  return (amount) => {
    work += amount
    builder.spend(amount)
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
function createRuleTable(builder: GrammarBuilder, impossibles: ImpossibleValues) {
  const names = new Map<string, string>()
  const jobs: (NamedParts & { readonly hint: string })[] = []

  function nameOf(parts: readonly Part[], hint: string): string {
    const key = impossibles.keyOf(parts)
    const known = names.get(key)
    if (known !== undefined) return known
    if (names.size >= expandedNodesMax) throw new SchemaFault(parts[0]?.path ?? [], null, 'the schema is too large')
    const name = builder.declare(hint)
    names.set(key, name)
    jobs.push({ parts, name, hint })
    return name
  }

  return { nameOf, next: () => jobs.pop() }
}

/** The alternatives for a value, at least one. */
function compileParts(context: Context, parts: readonly Part[], hint: string): Body[] {
  if (isImpossible(parts)) throw impossible(parts)
  const chooser = parts.find(({ pending }) => pending.length > 0)
  if (chooser !== undefined) return compileChoice(context, { parts, chooser }, hint)
  if (hasListedValues(parts)) return [compileValues(context, parts, hint)]
  const types = typesOf(parts)
  if (types === null) return [ending(anyJsonValue(context.builder))]
  return eachPossible(
    jsonTypes.filter((type) => types.has(type)),
    (type) => compileType(context, parts, { type, hint }),
  )
}

/** What is made of the items that are possible. Throws where none is. */
function eachPossible<Item, Result>(items: readonly Item[], make: (item: Item) => Result): Result[] {
  const made: Result[] = []
  let fault: ImpossibleSchema | null = null
  for (const item of items) {
    try {
      made.push(make(item))
    } catch (error) {
      if (!(error instanceof ImpossibleSchema)) throw error
      fault ??= error
    }
  }
  if (made.length === 0 && fault !== null) throw fault
  return made
}

/** The body of a rule that is sure to end. */
function ending(text: string): Body {
  return { text, own: 1, needs: [] }
}

type Choosing = { readonly parts: readonly Part[]; readonly chooser: Part }

/** The alternatives of an `anyOf` or `oneOf`, each joined with what stands beside it. */
function compileChoice(context: Context, { parts, chooser }: Choosing, hint: string): Body[] {
  const [choice = 'anyOf', ...pending] = chooser.pending
  const beside = parts.map((part) => (part === chooser ? { ...part, pending } : part))
  const branches = listed(chooser, choice).map((branch) => context.flatten([...beside, branch]))
  const possible = branches.filter((branch) => isPossible(context, branch))
  if (possible.length === 0) throw impossible([chooser])
  const chosen =
    choice === 'oneOf' ? exclusive(context, chooser, withoutContradictions(context, possible, hint)) : possible
  const names = new Set(chosen.map((branch) => context.value(branch, hint)))
  return [...names].map((name) => ({ text: name, own: 0, needs: [{ value: name, times: 1 }] }))
}

/** Looks a little further than at types: what stands beside a choice often leaves objects of one of its branches no value. */
function isPossible(context: Context, branch: readonly Part[]): boolean {
  return !context.isImpossible(branch) && !(branch.length > 1 && lacksRequired(context, branch))
}

/** The branches without those that are seen to be impossible as soon as they are made: they cannot be compared. */
function withoutContradictions(context: Context, branches: readonly Part[][], hint: string): readonly Part[][] {
  for (const branch of branches) if (!needsOwnRule(branch) && mayContradict(branch)) context.value(branch, hint)
  return branches.filter((branch) => !context.isImpossible(branch))
}

function exclusive(context: Context, chooser: Part, branches: readonly Part[][]): readonly Part[][] {
  if (branches.length === 0) return branches
  const told = compared(context, branches)?.filter((branch) => isPossible(context, branch)) ?? []
  if (told.length > 0) return told
  const choice: Choice = 'oneOf'
  context.relax(
    chooser,
    choice,
    'the alternatives may hold together; use "anyOf", or a property whose value tells them apart',
  )
  return branches
}

/** A contradiction inside a branch that comes up while it is compared does not make all of them impossible. */
function compared(context: Context, branches: readonly Part[][]): readonly Part[][] | null {
  try {
    return exclusiveBranches(context, branches)
  } catch (error) {
    if (!(error instanceof ImpossibleSchema)) throw error
    throw new SchemaFault(error.path, error.keyword, error.message)
  }
}

function compileType(context: Context, parts: readonly Part[], { type, hint }: { type: JsonType; hint: string }): Body {
  switch (type) {
    case 'object':
      return compileObject(context, parts, hint)
    case 'array':
      return compileArray(context, parts, hint)
    case 'string':
      return compileString(context, parts, hint)
    case 'number':
      return ending(compileNumber(context, parts, hint))
    case 'integer':
      return ending(compileInteger(context, parts, hint))
    case 'boolean':
      return ending(anyBoolean(context.builder))
    case 'null':
      return ending(nullValue(context.builder))
  }
}
