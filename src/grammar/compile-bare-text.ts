// Texts that stand bare between marks, as arguments in tags do: nothing in them is quoted or escaped.

import { quote } from '../lib/gbnf.ts'
import { compilationOf, type SchemaLocation } from './compile-schema.ts'
import { stringConstraint, type StringConstraint, textKeywords } from './compile-string.ts'
import type { Context, Relaxation } from './context.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import { type Automaton, determinize, type Lengths } from './patterns/automaton.ts'
import { bareCharacter, bareTextRule } from './patterns/automaton-rule.ts'
import { type Nfa, patternNfas } from './patterns/nfa.ts'
import { type PatternNode } from './patterns/pattern.ts'
import { PatternError } from './patterns/pattern-reader.ts'
import { codePointSet, complement, single } from './patterns/code-points.ts'
import { boundedRepetitionMax, repeat } from './repetition.ts'
import { SchemaFault } from './schema-fault.ts'
import { checkSchema } from './schema/check-schema.ts'
import { keyword, type Part, type SchemaObject, toPart } from './schema/schema-part.ts'

/** What stands around a bare text. */
export type BareFrame = {
  /** The whole text that ends it. */
  readonly close: string
  /** What would guard a text from being taken for markup, if it began with it; null where nothing does. */
  readonly guard: string | null
}

/** A longer bound takes a state for each character, and a request's grammar has room for few such texts. */
const boundMost = 400
/** About what one becomes. A bound takes one for each of its characters and each of those that close the text. */
const charactersPerState = 64

/**
 * Adds the rules of a text that follows a schema of strings, up to and with what closes it, and returns their first.
 *
 * Null where the schema says nothing that a text must keep. What cannot be kept is reported or thrown, as by `compileSchema`.
 */
export function compileBareText(
  builder: GrammarBuilder,
  schema: SchemaObject,
  frame: BareFrame,
  { onRelaxed, root, path }: SchemaLocation & { readonly onRelaxed: ((relaxation: Relaxation) => void) | undefined },
): string | null {
  const { context } = compilationOf(builder, root, onRelaxed)
  const first = toPart(schema, path)
  checkSchema(root, first, context.relax)
  const parts = context.flatten([first])
  for (const part of parts) {
    for (const choice of part.pending) context.relax(part, choice, 'alternatives of a text in tags are not supported')
  }
  const asked = stringConstraint(context, parts)
  const { nfas, lengths } = asked
  if (nfas.length === 0 && lengths.min === 0 && lengths.max === Infinity) return null
  const isCountable = nfas.length === 0 && lengths.max <= boundedRepetitionMax
  if (context.isLenient || !isCountable) return textWithin(context, parts, { asked, frame, mustFit: context.isLenient })
  return sharedText(context, parts, { asked, frame, mustFit: true }) ?? countedText(builder, lengths, frame)
}

/**
 * A text that is long and must keep its lengths, in which nothing may look like the beginning of what closes it. Left to
 * itself a model is better off without such a promise, since it could write no markup.
 */
function countedText(builder: GrammarBuilder, lengths: Lengths, { close, guard }: BareFrame): string {
  const beginning = new Set([close.charAt(0), close.trim().charAt(0), ...(guard ?? '').slice(0, 1)])
  const plain = complement(codePointSet([...beginning].flatMap(single)))
  const body = `${repeat(builder, builder.rule('plain', bareCharacter(plain)), lengths)} ${quote(close)}`
  return builder.rule('bare', body)
}

function boundOf({ min, max }: Lengths): number {
  return Number.isFinite(max) ? max : min
}

type Framed = {
  readonly asked: StringConstraint
  readonly frame: BareFrame
  /** There is another way, where its rules would take more than their share of the grammar. */
  readonly mustFit: boolean
}

/** Keeps as much of a constraint as comes to rules of bearable size; null where none of it does. */
function textWithin(context: Context, parts: readonly Part[], framed: Framed): string | null {
  const { nfas, lengths } = framed.asked
  const attempts = [
    { min: lengths.min, max: lengths.max, without: [] },
    { min: lengths.min, max: Infinity, without: ['maxLength'] },
    { min: 0, max: Infinity, without: ['maxLength', 'minLength'] },
  ]
  for (const [index, { min, max, without }] of attempts.entries()) {
    const before = attempts[index - 1]
    if (min === before?.min && max === before.max) continue
    const text = sharedText(context, parts, { ...framed, asked: { nfas, lengths: { min, max } } })
    if (text === null) continue
    relaxEach(context, parts, without)
    return text
  }
  relaxEach(context, parts, ['maxLength', 'minLength', 'pattern', 'format'])
  return null
}

/** About how many states it takes to count characters, or to repeat what a pattern does, whose NFA has two for each. */
function statesLeast({ asked: { nfas, lengths }, frame }: Framed): number {
  return Math.max(boundOf(lengths) * frame.close.trim().length, ...nfas.map(({ states }) => states.length / 2))
}

/** A text that can be left to the client takes half of the grammar at most, with all that is there already. */
function isTooMany(builder: GrammarBuilder, states: number, { mustFit }: Framed): boolean {
  return mustFit && states > 0 && !builder.hasRoom(states * charactersPerState)
}

/** The rules come to too much, or leave no text. */
class Unbearable extends Error {}

/** One rule serves every text with the same keywords in the same tags: agents bound many of their texts alike. Null for none. */
function sharedText(context: Context, parts: readonly Part[], framed: Framed): string | null {
  const { builder } = context
  const { asked, frame } = framed
  if (boundOf(asked.lengths) > boundMost) return null
  const make = () => {
    const automaton = isTooMany(builder, statesLeast(framed), framed) ? null : determinizeBare(context, framed)
    if (automaton === null) throw new Unbearable()
    return bareTextRule(builder, automaton, frame.close)
  }
  try {
    return builder.attempt(() =>
      builder.shared(`bare ${JSON.stringify([asked.lengths, frame])} ${textKeywords(parts)}`, make),
    )
  } catch (error) {
    const isTooComplex = framed.mustFit && error instanceof SchemaFault && error.keyword === null
    if (isTooComplex || error instanceof Unbearable) return null
    throw error
  }
}

function relaxEach({ relax }: Context, parts: readonly Part[], names: readonly string[]): void {
  for (const name of names) {
    for (const part of parts) {
      if (keyword(part.schema, name) !== undefined) relax(part, name, 'this cannot be kept by a text in tags')
    }
  }
}

/** Null where it would be too large, or no text were left. */
function determinizeBare({ builder, spend }: Context, framed: Framed): Automaton | null {
  const { asked, frame } = framed
  const marker = frame.close.trim()
  const isGuard = frame.guard === null ? [] : [lacking([{ kind: 'start' }, ...nodesOf(frame.guard)], spend)]
  // The whole marker may take too many states; texts without its beginning lack it as well.
  for (const forbidden of [ownBeginning(marker), marker.slice(0, 2)]) {
    try {
      const nfas = [...asked.nfas, lacking(nodesOf(forbidden), spend), ...isGuard]
      const automaton = determinize(nfas, asked.lengths, spend)
      if (!isTooMany(builder, automaton.length, framed)) return automaton
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
    }
  }
  return null
}

/** A marker without the end that is also its beginning: a text that holds this much could close before the marker does. */
function ownBeginning(marker: string): string {
  for (let length = marker.length - 1; length > 0; length--) {
    if (marker.startsWith(marker.slice(-length))) return marker.slice(0, -length)
  }
  return marker
}

function nodesOf(text: string): PatternNode[] {
  return Array.from(text, (character) => ({ kind: 'set', set: single(character) }))
}

/** An automaton of the texts in which these nodes match nowhere. */
function lacking(items: readonly PatternNode[], spend: (amount: number) => void): Nfa {
  const [nfa] = patternNfas({ node: { kind: 'sequence', items }, conditions: [] }, spend)
  if (nfa === undefined) throw new Error('A pattern without conditions has one automaton.')
  return { ...nfa, isNegated: true }
}
