import { SchemaFault } from './schema-fault.ts'
import { workOfAllMax } from './schema/schema-limits.ts'

/** 512 KiB, which the native parser reads in milliseconds: enough for four thousand optional properties. */
const grammarCharactersMax = 512 * 1024

/** Writing so many characters of rules takes as long as a unit of work. */
const charactersPerWork = 10

/** Long enough to recognise a property in a grammar, short enough not to count in its size. */
const hintCharactersMax = 24

/**
 * Collects the rules of one grammar in llama.cpp's GBNF notation.
 *
 * Several schemas may share a builder, and then share their common rules. A
 * builder that has thrown a `SchemaFault` holds unfinished rules: drop it,
 * unless that was inside an `attempt`.
 */
export type GrammarBuilder = {
  /** Adds a rule, named after the hint, and returns its name; a body that is there already is not added again. */
  rule(hint: string, body: string): string
  /** A name to refer to before its rule is known; `define` must follow. */
  declare(hint: string): string
  define(name: string, body: string): void
  /** The rule kept under `key`; the first caller's `body` makes it and is given its name, so it may recurse. */
  shared(key: string, body: (name: string) => string): string
  /** Whether its rules leave half of it free once so many characters are added: what can be left out may take no more. */
  hasRoom(characters: number): boolean
  /** The fewest characters of shared rules whose text alone does not tell. */
  readonly leastLengths: Map<string, number>
  /** Counts work for all schemas of the grammar; throws when it is too much. */
  spend(amount: number): void
  /** Takes back the rules that were added when it throws. Making them counts as work all the same. May hold others. */
  attempt<Result>(make: () => Result): Result
  /** The whole grammar; `root` names the rule that an answer as a whole must match. */
  toGrammar(root: string): string
}

export function createGrammarBuilder(): GrammarBuilder {
  const rules = new RuleList()
  const namesByBody = new Map<string, string>()
  const namesByKey = new Map<string, string>()
  const takeName = createNames()
  let undefinedNames = new Set<string>()
  const leastLengths = new Map<string, number>()
  let work = 0

  function declare(hint: string): string {
    const name = takeName(hint)
    undefinedNames.add(name)
    return name
  }

  function define(name: string, body: string): void {
    if (!undefinedNames.delete(name)) throw new Error(`Rule ${name} was not declared, or is defined already.`)
    rules.add(name, body)
  }

  function rule(hint: string, body: string): string {
    const known = namesByBody.get(body)
    if (known !== undefined) return known
    const name = takeName(hint)
    rules.add(name, body)
    namesByBody.set(body, name)
    return name
  }

  function shared(key: string, body: (name: string) => string): string {
    const known = namesByKey.get(key)
    if (known !== undefined) return known
    const name = declare(key)
    namesByKey.set(key, name)
    define(name, body(name))
    return name
  }

  function spend(amount: number): void {
    work += amount
    if (work > workOfAllMax) throw new SchemaFault([], null, 'the schemas are too complex together')
  }

  function attempt<Result>(make: () => Result): Result {
    const unfinished = new Set(undefinedNames)
    const before = rules.size
    const sizes = [namesByBody, namesByKey].map((map) => ({ map, size: map.size }))
    try {
      return make()
    } catch (error) {
      for (const { map, size } of sizes) shorten(map, size)
      undefinedNames = unfinished
      spend(Math.ceil((rules.size.characters - before.characters) / charactersPerWork))
      rules.shorten(before)
      throw error
    }
  }

  const hasRoom = (characters: number) => rules.size.characters + characters <= grammarCharactersMax / 2
  const toGrammar = (root: string) => rules.write(root, undefinedNames)
  return { rule, declare, define, shared, hasRoom, leastLengths, spend, attempt, toGrammar }
}

/** The rules in the order in which they were defined. */
class RuleList {
  readonly #rules: string[] = []
  #characters = 0

  get size() {
    return { rules: this.#rules.length, characters: this.#characters }
  }

  add(name: string, body: string): void {
    const rule = `${name} ::= ${body}\n`
    this.#rules.push(rule)
    this.#characters += rule.length
    if (this.#characters <= grammarCharactersMax) return
    throw new SchemaFault([], null, `the schema is too large: its grammar exceeds ${grammarCharactersMax} characters`)
  }

  /** Takes out what was added since it was of this size. */
  shorten(size: { readonly rules: number; readonly characters: number }): void {
    this.#rules.length = size.rules
    this.#characters = size.characters
  }

  write(root: string, missing: ReadonlySet<string>): string {
    if (missing.size > 0) throw new Error(`Rules were declared and never defined: ${[...missing].join(', ')}.`)
    return `root ::= ${root}\n${this.#rules.join('')}`
  }
}

/** Whether a term is the name of a rule, and neither a text, a class nor a group. */
export function isRule(term: string): boolean {
  return /^[a-z]/.test(term)
}

/** Takes out what was put into a map since it was of this size. */
function shorten(map: Map<string, string>, size: number): void {
  let at = 0
  for (const key of map.keys()) if (at++ >= size) map.delete(key)
}

/** Gives every rule a name of its own that resembles its hint. A rule called `start` makes a Lark grammar to llguidance. */
function createNames(): (hint: string) => string {
  const hintUses = new Map([
    ['root', 1],
    ['start', 1],
  ])
  const wantedNames = new Map<string, string>()
  return (hint) => {
    const wanted = wantedNames.get(hint) ?? toRuleName(hint)
    wantedNames.set(hint, wanted)
    const uses = (hintUses.get(wanted) ?? 0) + 1
    hintUses.set(wanted, uses)
    return uses === 1 ? wanted : `${wanted}-${uses}`
  }
}

/**
 * Letters, digits and hyphens are what GBNF allows in a name; not every reader of it takes a digit in front, and one takes `idOf`
 * for `id-of`. A number at the end tells names with one hint apart, so a hint's own is no word by itself.
 */
function toRuleName(hint: string): string {
  const words = hint.slice(0, hintCharactersMax).match(/[a-zA-Z0-9]+/g) ?? ['value']
  const name = words
    .join('-')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/-(\d+)$/, '-n$1')
  return /^\d/.test(name) ? `n${name}` : name
}
