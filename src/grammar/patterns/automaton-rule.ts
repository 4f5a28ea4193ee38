import type { Automaton, AutomatonState } from './automaton.ts'
import { characterClass, quote } from '../../lib/gbnf.ts'
import { type CodePointRange, type CodePointSet, complement, everything, includes } from './code-points.ts'
import { type GrammarBuilder, isRule } from '../grammar-builder.ts'
import { stringCharacter } from '../json-rules.ts'
import { closedRepetition } from '../repetition.ts'

/** How a text is written: what closes it, and each of its characters. */
type TextForm = {
  readonly close: string
  /** One character of a set, as a rule can hold it. */
  character(builder: GrammarBuilder, set: CodePointSet): string
}

const closingQuote = String.raw`"\""`
const shortEscapes: readonly (readonly [string, number])[] = [
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['"', 0x22],
  ['\\', 0x5c],
]
/** Code points that stand in a JSON string as they are, in order. */
const rawRanges: CodePointSet = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0xd7ff],
  [0xe000, 0x10ffff],
]
const controlsCount = 0x20

/** Adds the rules of the JSON strings whose text an automaton accepts. */
export function automatonRule(builder: GrammarBuilder, hint: string, automaton: Automaton): string {
  const text = automatonRules(builder, { hint, automaton }, { close: closingQuote, character: jsonCharacter })
  return builder.rule(hint, String.raw`"\"" ${text}`)
}

/** Adds the rules of the bare texts that an automaton accepts, up to and with a literal that closes them. */
export function bareTextRule(builder: GrammarBuilder, automaton: Automaton, close: string): string {
  return automatonRules(
    builder,
    { hint: 'bare', automaton },
    { close: quote(close), character: (_, set) => bareCharacter(set) },
  )
}

type Hinted = { readonly hint: string; readonly automaton: Automaton }

/** One rule for each state that several ways lead to. */
function automatonRules(builder: GrammarBuilder, { hint, automaton }: Hinted, form: TextForm): string {
  const tails = tailsOf(automaton)
  const uses = usesOf(automaton, tails)
  const { characterOf, repeated } = createWriter(builder, form)
  const isInline = automaton.map((state, index) => {
    if (index === 0 || uses[index] !== 1) return false
    if (tails[index] !== null) return true
    const [edge] = state.edges
    // A character that is a rule stands first in its own, where xgrammar writes out what it stands for.
    return branches(state) === 1 && (edge === undefined || !isRule(characterOf(edge.set)))
  })
  const names = new Map<number, string>()
  for (const index of automaton.keys())
    if ((index === 0 || (uses[index] ?? 0) > 0) && isInline[index] !== true) names.set(index, builder.declare(hint))

  /** What leads from a state by its only branch, and on through the states that are part of this rule. */
  function follow(first: number): string {
    const texts: string[] = []
    let index = first
    while (isInline[index] === true) {
      const tail = tails[index] ?? null
      if (tail !== null) return [...texts, repeated(tail)].join(' ')
      const [edge] = automaton[index]?.edges ?? []
      if (edge === undefined) return [...texts, form.close].join(' ')
      texts.push(characterOf(edge.set))
      index = edge.target
    }
    return [...texts, names.get(index) ?? ''].join(' ')
  }

  function branching({ isAccepting, edges }: AutomatonState): string {
    const alternatives = edges.map(({ set, target }) => `${characterOf(set)} ${follow(target)}`)
    return [...alternatives, ...(isAccepting ? [form.close] : [])].join(' | ')
  }

  for (const [index, name] of names) {
    const tail = tails[index] ?? null
    const state = automaton[index] ?? { isAccepting: false, edges: [] }
    builder.define(name, tail === null ? branching(state) : repeated(tail))
  }
  return names.get(0) ?? ''
}

/** Writes characters and repetitions of them. Most edges of an automaton have one of a few sets. */
function createWriter(builder: GrammarBuilder, form: TextForm) {
  const characters = new Map<string, string>()
  const bySet = new Map<CodePointSet, string>()

  function characterOf(set: CodePointSet): string {
    const known = bySet.get(set)
    if (known !== undefined) return known
    let key = ''
    for (const [first, last] of set) key += `${first}-${last},`
    const character = characters.get(key) ?? form.character(builder, set)
    characters.set(key, character)
    bySet.set(set, character)
    return character
  }

  /** So many characters of a set or fewer, up to and with what closes the text. */
  function repeated({ set, count }: Tail): string {
    const character = characterOf(set)
    const item = character.includes(' ') ? builder.rule('set', character) : character
    return closedRepetition(builder, item, { min: 0, max: count }, form.close)
  }

  return { characterOf, repeated }
}

/** From a state on, the text may hold so many more characters of one set, or fewer, and nothing else. */
type Tail = { readonly set: CodePointSet; readonly count: number }

/** A bound on the length makes a chain of states of what can be said as one repetition. Null where a state begins none. */
function tailsOf(automaton: Automaton): readonly (Tail | null)[] {
  const tails = automaton.map((): Tail | null => null)
  for (let index = automaton.length - 1; index >= 0; index--) {
    const { isAccepting = false, edges = [] } = automaton[index] ?? {}
    const [edge] = edges
    if (!isAccepting || edges.length !== 1 || edge === undefined || edge.target <= index) continue
    const next = automaton[edge.target]
    const tail = tails[edge.target] ?? null
    if (next?.isAccepting === true && next.edges.length === 0) tails[index] = { set: edge.set, count: 1 }
    else if (tail !== null && tail.set === edge.set) tails[index] = { set: edge.set, count: tail.count + 1 }
  }
  return tails
}

/** How many edges lead to each state, those left out that a repetition stands for. */
function usesOf(automaton: Automaton, tails: readonly (Tail | null)[]): number[] {
  const uses = automaton.map(() => 0)
  const open = [0]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if ((tails[index] ?? null) !== null) continue
    for (const { target } of automaton[index]?.edges ?? []) {
      if (uses[target] === 0 && target !== 0) open.push(target)
      uses[target] = (uses[target] ?? 0) + 1
    }
  }
  return uses
}

function branches(state: AutomatonState): number {
  return state.edges.length + (state.isAccepting ? 1 : 0)
}

/** One character of a set as it stands in a JSON string, raw or with the escape it needs. */
function jsonCharacter(builder: GrammarBuilder, set: CodePointSet): string {
  if (isEverything(set)) return stringCharacter(builder)
  const forms = [rawForm(jsonRaw(set)), shortForm(set), ...controlForms(set)].filter((form) => form !== null)
  const [only] = forms
  return forms.length === 1 && only !== undefined ? only : builder.rule('set', forms.join(' | '))
}

function isEverything(set: CodePointSet): boolean {
  return (
    set.length === everything.length &&
    set.every(([first, last], index) => first === everything[index]?.[0] && last === everything[index]?.[1])
  )
}

/** One character of a set as it stands in bare text: by what it lacks, where that is less to write. */
export function bareCharacter(set: CodePointSet): string {
  const lacked = complement(set)
  if (lacked.length > 0 && lacked.length < set.length) return characterClass(lacked, true)
  return rawForm(set) ?? '""'
}

/** What of a set stands in a JSON string as it is. */
function jsonRaw(set: CodePointSet): CodePointSet {
  const raw: CodePointRange[] = []
  for (const [first, last] of set) {
    for (const [rawFirst, rawLast] of rawRanges) {
      const from = Math.max(first, rawFirst)
      const to = Math.min(last, rawLast)
      if (from <= to) raw.push([from, to])
    }
  }
  return raw
}

function rawForm(ranges: CodePointSet): string | null {
  return ranges.length === 0 ? null : characterClass(ranges)
}

function shortForm(set: CodePointSet): string | null {
  const letters: string[] = []
  for (const [letter, point] of shortEscapes) if (includes(set, point)) letters.push(letter)
  const [only] = letters
  if (only === undefined) return null
  if (letters.length === 1) return quote(`\\${only}`)
  return `"\\\\" ${characterClass(letters.map((letter) => letter.charCodeAt(0)).map((point) => [point, point]))}`
}

/** Control characters by their number, which is the only form that some of them have. */
function controlForms(set: CodePointSet): readonly string[] {
  const [lowest] = set
  if (lowest === undefined || lowest[0] >= controlsCount) return []
  if (lowest[0] === 0 && lowest[1] >= controlsCount - 1) return allControlForms
  const named = new Set(shortEscapes.map(([, point]) => point))
  return Array.from({ length: controlsCount }, (_, point) => point)
    .filter((point) => includes(set, point) && !named.has(point))
    .map((point) => `"\\\\u00${point >> 4}" [${hex(point & 15, 1)}${hex(point & 15, 1).toLowerCase()}]`)
}

const allControlForms = [String.raw`"\\u00" [01] [0-9a-fA-F]`]

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}
