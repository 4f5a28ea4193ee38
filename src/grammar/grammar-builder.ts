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
  /** The fewest characters of shared rules whose text alone does not tell. */
  readonly leastLengths: Map<string, number>
  /** Counts work for all schemas of the grammar; throws when it is too much. */
  spend(amount: number): void
  /** Takes back the rules that were added when it throws. Making them counts as work all the same. May hold others. */
  attempt<Result>(make: () => Result): Result
  /** The text as a quoted GBNF literal. */
  literal(text: string): string
  /** The whole grammar; `root` names the rule that an answer as a whole must match. */
  toGrammar(root: string): string
}

export function createGrammarBuilder(): GrammarBuilder {
  const bodies = new Map<string, string>()
  const namesByBody = new Map<string, string>()
  const namesByKey = new Map<string, string>()
  const takeName = createNames()
  const undefinedNames = new Set<string>()
  const leastLengths = new Map<string, number>()
  let characters = 0
  let work = 0
  const { keep, orTakeBack } = createJournal()

  function declare(hint: string): string {
    const name = takeName(hint)
    undefinedNames.add(name)
    return name
  }

  function define(name: string, body: string): void {
    if (!undefinedNames.delete(name)) throw new Error(`Rule ${name} was not declared, or is defined already.`)
    keep(bodies, name, body)
    characters += name.length + body.length + ' ::= \n'.length
    if (characters > grammarCharactersMax) {
      throw new SchemaFault([], null, `the schema is too large: its grammar exceeds ${grammarCharactersMax} characters`)
    }
  }

  function rule(hint: string, body: string): string {
    const known = namesByBody.get(body)
    if (known !== undefined) return known
    const name = declare(hint)
    define(name, body)
    keep(namesByBody, body, name)
    return name
  }

  function shared(key: string, body: (name: string) => string): string {
    const known = namesByKey.get(key)
    if (known !== undefined) return known
    const name = declare(key)
    keep(namesByKey, key, name)
    define(name, body(name))
    return name
  }

  function spend(amount: number): void {
    work += amount
    if (work > workOfAllMax) throw new SchemaFault([], null, 'the schemas are too complex together')
  }

  function attempt<Result>(make: () => Result): Result {
    const unfinished = [...undefinedNames]
    const charactersBefore = characters
    return orTakeBack(make, () => {
      undefinedNames.clear()
      for (const name of unfinished) undefinedNames.add(name)
      spend(Math.ceil((characters - charactersBefore) / charactersPerWork))
      characters = charactersBefore
    })
  }

  const toGrammar = (root: string) => writeGrammar(root, bodies, undefinedNames)
  return { rule, declare, define, shared, leastLengths, spend, attempt, literal, toGrammar }
}

/** Remembers what is put into maps while attempts are under way. */
function createJournal() {
  let entries: { readonly map: Map<string, string>; readonly key: string }[] = []
  let attempts = 0

  function keep(map: Map<string, string>, key: string, value: string): void {
    map.set(key, value)
    if (attempts > 0) entries.push({ map, key })
  }

  function orTakeBack<Result>(make: () => Result, onFailure: () => void): Result {
    const before = entries.length
    attempts += 1
    try {
      return make()
    } catch (error) {
      for (const { map, key } of entries.splice(before)) map.delete(key)
      onFailure()
      throw error
    } finally {
      attempts -= 1
      if (attempts === 0) entries = []
    }
  }

  return { keep, orTakeBack }
}

/** Gives every rule a name of its own that resembles its hint. */
function createNames(): (hint: string) => string {
  const hintUses = new Map<string, number>()
  const wantedNames = new Map<string, string>()
  const taken = new Set(['root'])
  return (hint) => {
    const wanted = wantedNames.get(hint) ?? toRuleName(hint)
    wantedNames.set(hint, wanted)
    let name = wanted
    for (let uses = hintUses.get(wanted) ?? 1; taken.has(name); uses++) {
      name = `${wanted}-${uses + 1}`
      hintUses.set(wanted, uses + 1)
    }
    taken.add(name)
    return name
  }
}

/** Letters, digits and hyphens are what GBNF allows in a name; not every reader of it takes a digit in front. */
function toRuleName(hint: string): string {
  const words = hint.slice(0, hintCharactersMax).match(/[a-zA-Z0-9]+/g) ?? ['value']
  const name = words.join('-')
  return /^\d/.test(name) ? `n${name}` : name
}

function writeGrammar(root: string, bodies: ReadonlyMap<string, string>, missing: ReadonlySet<string>): string {
  if (missing.size > 0) throw new Error(`Rules were declared and never defined: ${[...missing].join(', ')}.`)
  const lines = [`root ::= ${root}`]
  for (const [name, body] of bodies) lines.push(`${name} ::= ${body}`)
  return `${lines.join('\n')}\n`
}

function literal(text: string): string {
  if (!/["\\]|\p{Cc}/u.test(text)) return `"${text}"`
  return `"${text.replaceAll(/["\\]|\p{Cc}/gu, escapeCharacter)}"`
}

function escapeCharacter(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`
  // Four digits, since some readers of this notation take any number of them behind \x.
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`
}
