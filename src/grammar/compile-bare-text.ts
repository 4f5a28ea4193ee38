// Texts that stand bare between marks, as arguments in tags do: nothing in them is quoted or escaped.

import { compilationOf, type SchemaLocation } from './compile-schema.ts'
import { stringConstraint, type StringConstraint } from './compile-string.ts'
import type { Context, Relaxation } from './context.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import { type Automaton, determinize, type Lengths } from './patterns/automaton.ts'
import { bareCharacter, bareTextRule } from './patterns/automaton-rule.ts'
import { type Nfa, patternNfas } from './patterns/nfa.ts'
import { type PatternNode } from './patterns/pattern.ts'
import { PatternError } from './patterns/pattern-reader.ts'
import { codePointSet, complement, single } from './patterns/code-points.ts'
import { boundedRepetitionMax, repeat } from './repetition.ts'
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
  if (!context.isLenient && isCountable && boundOf(lengths) > boundMost) return countedText(builder, lengths, frame)
  const automaton = automatonWithin(context, parts, { asked, frame })
  return automaton === null ? null : bareTextRule(builder, automaton, frame.close)
}

/**
 * A text that is long and must keep its lengths, in which nothing may look like the beginning of what closes it. Left to
 * itself a model is better off without such a promise, since it could write no markup.
 */
function countedText(builder: GrammarBuilder, lengths: Lengths, { close, guard }: BareFrame): string {
  const beginning = new Set([close.charAt(0), close.trim().charAt(0), ...(guard ?? '').slice(0, 1)])
  const plain = complement(codePointSet([...beginning].flatMap(single)))
  const body = `${repeat(builder, builder.rule('plain', bareCharacter(builder, plain)), lengths)} ${builder.literal(close)}`
  return builder.rule('bare', body)
}

function boundOf({ min, max }: Lengths): number {
  return Number.isFinite(max) ? max : min
}

type Framed = { readonly asked: StringConstraint; readonly frame: BareFrame }

/** Keeps as much of a constraint as comes to an automaton of bearable size; null where none of it does. */
function automatonWithin(context: Context, parts: readonly Part[], { asked, frame }: Framed): Automaton | null {
  const { nfas, lengths } = asked
  const attempts = [
    { min: lengths.min, max: lengths.max, without: [] },
    { min: lengths.min, max: Infinity, without: ['maxLength'] },
    { min: 0, max: Infinity, without: ['maxLength', 'minLength'] },
  ]
  for (const { min, max, without } of attempts) {
    if (boundOf({ min, max }) > boundMost) continue
    const automaton = determinizeBare(context, { asked: { nfas, lengths: { min, max } }, frame })
    if (automaton === null) continue
    relaxEach(context, parts, without)
    return automaton
  }
  relaxEach(context, parts, ['maxLength', 'minLength', 'pattern', 'format'])
  return null
}

function relaxEach({ relax }: Context, parts: readonly Part[], names: readonly string[]): void {
  for (const name of names) {
    for (const part of parts) {
      if (keyword(part.schema, name) !== undefined) relax(part, name, 'this cannot be kept by a text in tags')
    }
  }
}

/** Null where it would be too large, or no text were left. */
function determinizeBare({ spend }: Context, { asked: { nfas, lengths }, frame }: Framed): Automaton | null {
  const marker = frame.close.trim()
  const isGuard = frame.guard === null ? [] : [lacking([{ kind: 'start' }, ...nodesOf(frame.guard)], spend)]
  // The whole marker may take too many states; texts without its beginning lack it as well.
  for (const forbidden of [ownBeginning(marker), marker.slice(0, 2)]) {
    try {
      return determinize([...nfas, lacking(nodesOf(forbidden), spend), ...isGuard], lengths, spend)
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
