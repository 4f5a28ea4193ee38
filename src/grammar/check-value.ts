// Whether a value that somebody else has made keeps a JSON Schema: what our own grammars make sure of beforehand has to be
// looked at afterwards where another engine's constraint is all there is. Patterns are read by our own automata, which take
// time in proportion to the text whatever a client writes; work and depth are bounded.

import { ordered, typesOfValue } from './compile-values.ts'
import { isMultiple } from './multiples.ts'
import type { Nfa } from './patterns/nfa.ts'
import { patternNfas } from './patterns/nfa.ts'
import { isMatch } from './patterns/nfa-runner.ts'
import { parsePattern } from './patterns/pattern.ts'
import { SchemaFault, type SchemaPath } from './schema-fault.ts'
import { checkSchema } from './schema/check-schema.ts'
import { resolveReference } from './schema/references.ts'
import { workOfAllMax } from './schema/schema-limits.ts'
import { isSchemaObject, keyword, toPart, type SchemaObject } from './schema/schema-part.ts'

/** What is wrong with a value: where it is, and the keyword that it does not keep. */
export type ValueFault = { readonly path: SchemaPath; readonly keyword: string }

export type ValueCheck = {
  /** The first fault of a value; null where there is none. */
  check(value: unknown): ValueFault | null
  /** Keywords that are a remark here, by their places in the schema. */
  readonly unenforced: readonly SchemaPath[]
}

/** A value that is nested deeper is no answer to anything; recursion ends before the stack does. */
const depthMax = 256

/** Keywords that nothing here is held to: formats are remarks to the standard, and the others are hardly ever written. */
const remarks = ['format', 'unevaluatedItems', 'unevaluatedProperties', '$dynamicRef', '$recursiveRef'] as const

/** Throws a SchemaFault for a schema that is malformed or too large. */
export function createValueCheck(schema: SchemaObject): ValueCheck {
  const unenforced: SchemaPath[] = []
  const first = toPart(schema, [])
  checkSchema(schema, first, (part, name) => {
    if (remarks.some((remark) => remark === name)) unenforced.push([...part.path, name])
  })
  const patterns = new Map<string, readonly Nfa[] | null>()
  return {
    unenforced,
    check(value) {
      const run = new Run(schema, patterns)
      try {
        return run.fault({ schema, value, path: [], depth: 0 })
      } catch (error) {
        if (error instanceof TooMuch) return { path: [], keyword: 'size' }
        throw error
      }
    },
  }
}

class TooMuch extends Error {}

type Look = {
  readonly schema: unknown
  readonly value: unknown
  readonly path: SchemaPath
  readonly depth: number
}

type Check = (
  run: Run,
  look: Look & { readonly schema: SchemaObject },
  expected: unknown,
) => ValueFault | boolean | null

class Run {
  readonly #root: SchemaObject
  readonly #patterns: Map<string, readonly Nfa[] | null>
  #work = 0

  constructor(root: SchemaObject, patterns: Map<string, readonly Nfa[] | null>) {
    this.#root = root
    this.#patterns = patterns
  }

  fault(look: Look): ValueFault | null {
    const { schema, path, depth } = look
    this.spend(1)
    if (depth > depthMax) throw new TooMuch()
    if (schema === true || schema === undefined || schema === null) return null
    if (!isSchemaObject(schema)) return { path, keyword: 'false' }
    for (const [name, check] of checks) {
      const expected = name === 'const' ? schema['const'] : keyword(schema, name)
      if (expected === undefined || !Object.hasOwn(schema, name)) continue
      const found = check(this, { ...look, schema }, expected)
      if (found === false) return { path, keyword: name }
      if (found !== true && found !== null) return found
    }
    return null
  }

  /** The same value by another schema. */
  holds(look: Look, schema: unknown): boolean {
    return this.fault({ ...look, schema, depth: look.depth + 1 }) === null
  }

  within(
    look: Look,
    { schema, value, at }: { schema: unknown; value: unknown; at: string | number },
  ): ValueFault | null {
    return this.fault({ schema, value, path: [...look.path, at], depth: look.depth + 1 })
  }

  target(schema: SchemaObject): unknown {
    const found = resolveReference(this.#root, toPart(schema, []))
    // What leads nowhere is told of when the schema is read.
    return found === null || found instanceof SchemaFault ? true : found.schema
  }

  /** A pattern that cannot be read here is a remark. */
  matches(source: string, text: string): boolean {
    let nfas = this.#patterns.get(source)
    if (nfas === undefined) {
      nfas = this.#read(source)
      this.#patterns.set(source, nfas)
    }
    return nfas === null || nfas.every((nfa) => isMatch(nfa, text, (amount) => this.spend(amount)))
  }

  spend(amount: number): void {
    this.#work += amount
    if (this.#work > workOfAllMax) throw new TooMuch()
  }

  #read(source: string): readonly Nfa[] | null {
    try {
      return patternNfas(parsePattern(source), (amount) => this.spend(amount))
    } catch (error) {
      if (error instanceof TooMuch) throw error
      return null
    }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const membersOf = (value: unknown): readonly [string, unknown][] => (isSchemaObject(value) ? Object.entries(value) : [])

function firstFault(faults: Iterable<ValueFault | null>): ValueFault | null {
  for (const fault of faults) if (fault !== null) return fault
  return null
}

const ofNumber =
  (holds: (value: number, bound: number, schema: SchemaObject) => boolean): Check =>
  (_, { value, schema }, bound) =>
    typeof value !== 'number' || typeof bound !== 'number' || holds(value, bound, schema)
const ofText =
  (holds: (run: Run, text: string, expected: unknown) => boolean): Check =>
  (run, { value }, expected) =>
    typeof value !== 'string' || holds(run, value, expected)
const ofSize =
  (sizeOf: (value: unknown) => number | null, holds: (size: number, bound: number) => boolean): Check =>
  (_, { value }, bound) => {
    const size = sizeOf(value)
    return size === null || typeof bound !== 'number' || holds(size, bound)
  }
const atLeast = (size: number, bound: number) => size >= bound
const atMost = (size: number, bound: number) => size <= bound
const itemCount = (value: unknown) => (Array.isArray(value) ? value.length : null)
const propertyCount = (value: unknown) => (isSchemaObject(value) ? Object.keys(value).length : null)
const characterCount = (value: unknown) => (typeof value === 'string' ? [...value].length : null)

/** In the order of what is cheapest and says most. */
const checks: readonly (readonly [name: string, check: Check])[] = [
  [
    'type',
    (_, { schema, value }, expected) => {
      const types: readonly string[] = typesOfValue(value)
      if (value === null && keyword(schema, 'nullable') === true) return true
      return [expected].flat().some((type) => types.includes(String(type)))
    },
  ],
  ['const', (_, { value }, expected) => isSame(value, expected)],
  ['enum', (_, { value }, expected) => listOf(expected).some((one) => isSame(value, one))],
  [
    'minimum',
    ofNumber((value, bound, schema) => value > bound || (value === bound && schema['exclusiveMinimum'] !== true)),
  ],
  [
    'maximum',
    ofNumber((value, bound, schema) => value < bound || (value === bound && schema['exclusiveMaximum'] !== true)),
  ],
  ['exclusiveMinimum', ofNumber((value, bound) => value > bound)],
  ['exclusiveMaximum', ofNumber((value, bound) => value < bound)],
  ['multipleOf', ofNumber((value, _, schema) => isMultiple([toPart(schema, [])], value))],
  ['minLength', ofSize(characterCount, atLeast)],
  ['maxLength', ofSize(characterCount, atMost)],
  ['pattern', ofText((run, text, pattern) => typeof pattern !== 'string' || run.matches(pattern, text))],
  ['minItems', ofSize(itemCount, atLeast)],
  ['maxItems', ofSize(itemCount, atMost)],
  ['minProperties', ofSize(propertyCount, atLeast)],
  ['maxProperties', ofSize(propertyCount, atMost)],
  [
    'required',
    (_, { value }, names) =>
      !isSchemaObject(value) || listOf(names).every((name) => Object.hasOwn(value, String(name))),
  ],
  ['uniqueItems', (run, { value }, isAsked) => isAsked !== true || !Array.isArray(value) || areUnique(run, value)],
  ['$ref', (run, look) => run.fault({ ...look, schema: run.target(look.schema), depth: look.depth + 1 })],
  [
    'allOf',
    (run, look, all) => firstFault(listOf(all).map((schema) => run.fault({ ...look, schema, depth: look.depth + 1 }))),
  ],
  ['anyOf', (run, look, any) => listOf(any).some((schema) => run.holds(look, schema))],
  ['oneOf', (run, look, any) => listOf(any).filter((schema) => run.holds(look, schema)).length === 1],
  ['not', (run, look, schema) => !run.holds(look, schema)],
  [
    'if',
    (run, look, schema) => {
      const then = look.schema[run.holds(look, schema) ? 'then' : 'else']
      return run.fault({ ...look, schema: then, depth: look.depth + 1 })
    },
  ],
  ['properties', checkProperties],
  [
    'patternProperties',
    (run, look, _) => (keyword(look.schema, 'properties') === undefined ? checkProperties(run, look) : null),
  ],
  [
    'additionalProperties',
    (run, look) =>
      ['properties', 'patternProperties'].some((name) => keyword(look.schema, name) !== undefined)
        ? null
        : checkProperties(run, look),
  ],
  [
    'propertyNames',
    (run, look, schema) =>
      firstFault(membersOf(look.value).map(([name]) => run.within(look, { schema, value: name, at: name }))),
  ],
  [
    'dependentRequired',
    (_, { value }, all) =>
      membersOf(all).every(
        ([name, names]) =>
          !isSchemaObject(value) ||
          !Object.hasOwn(value, name) ||
          listOf(names).every((one) => Object.hasOwn(value, String(one))),
      ),
  ],
  [
    'dependentSchemas',
    (run, look, all) =>
      firstFault(
        membersOf(all).map(([name, schema]) =>
          isSchemaObject(look.value) && Object.hasOwn(look.value, name)
            ? run.fault({ ...look, schema, depth: look.depth + 1 })
            : null,
        ),
      ),
  ],
  ['prefixItems', (run, look, schemas) => checkItems(run, look, (index) => listOf(schemas)[index])],
  ['items', checkRest],
  ['contains', checkContains],
]

function checkProperties(run: Run, look: Look & { readonly schema: SchemaObject }): ValueFault | null {
  const declared = keyword(look.schema, 'properties')
  const patterned = membersOf(keyword(look.schema, 'patternProperties'))
  const others = keyword(look.schema, 'additionalProperties')
  for (const [name, value] of membersOf(look.value)) {
    const own = isSchemaObject(declared) && Object.hasOwn(declared, name) ? [declared[name]] : []
    const matching = patterned.filter(([pattern]) => run.matches(pattern, name)).map(([, schema]) => schema)
    const all = own.length + matching.length > 0 ? [...own, ...matching] : [others]
    for (const schema of all) {
      const fault = run.within(look, { schema, value, at: name })
      if (fault !== null) return fault
    }
  }
  return null
}

function checkItems(run: Run, look: Look, schemaAt: (index: number) => unknown): ValueFault | null {
  if (!Array.isArray(look.value)) return null
  return firstFault(look.value.map((value, index) => run.within(look, { schema: schemaAt(index), value, at: index })))
}

/** The items behind those that have schemas of their own, which an older draft lists under `items` itself. */
function checkRest(run: Run, look: Look & { readonly schema: SchemaObject }, expected: unknown): ValueFault | null {
  if (Array.isArray(expected)) {
    const rest = keyword(look.schema, 'additionalItems')
    return checkItems(run, look, (index) => (index < expected.length ? expected[index] : rest))
  }
  const first = listOf(keyword(look.schema, 'prefixItems')).length
  return checkItems(run, look, (index) => (index < first ? true : expected))
}

function checkContains(run: Run, look: Look & { readonly schema: SchemaObject }, schema: unknown): boolean {
  if (!Array.isArray(look.value)) return true
  const [least, most] = [keyword(look.schema, 'minContains'), keyword(look.schema, 'maxContains')]
  const found = look.value.filter((value) => run.holds({ ...look, value }, schema)).length
  return found >= (typeof least === 'number' ? least : 1) && found <= (typeof most === 'number' ? most : Infinity)
}

function areUnique(run: Run, items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = JSON.stringify(ordered(item))
    run.spend(text.length)
    if (seen.has(text)) return false
    seen.add(text)
  }
  return true
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(ordered(left)) === JSON.stringify(ordered(right))
}
