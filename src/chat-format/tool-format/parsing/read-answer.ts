import type { Tool } from '../../../core/generation.ts'
import { hasOwnTrigger } from '../tool-grammar.ts'
import { matchHead, openingsOf, type CallHead, type DerivedFormat } from './call-head.ts'
import { firstMatch, matchLiteral, skipSpace } from './match-literal.ts'
import { readTaggedArguments } from './read-tagged.ts'
import { readJsonArguments } from './scan-json.ts'
import { drop, pushArguments, pushText, type OutputSource, type Reading } from './tool-call-part.ts'

/** Reads an answer in one of the derived notations. */
export function* readMarkedAnswer(source: OutputSource, format: DerivedFormat, tools: readonly Tool[] | null): Reading {
  for (;;) {
    const head = yield* readText(source, format, tools)
    if (head === null) return
    yield* readCalls(source, format, { head, tools })
  }
}

type Search = {
  readonly format: DerivedFormat
  readonly tools: readonly Tool[] | null
  readonly firsts: ReadonlySet<string>
}

/** Where a call begins in the text; `held` where one still might, `broken` where the output ends inside a head. */
type Found = { readonly at: number; readonly head: CallHead | 'held' | 'broken' | null }

/** Passes text on until a call begins; null at the end of the output. */
function* readText(
  source: OutputSource,
  format: DerivedFormat,
  tools: readonly Tool[] | null,
): Reading<CallHead | null> {
  // Without a marker a call is just JSON, and then only a whole answer can be one.
  const isBare = openingsOf(format).includes('')
  const firsts = new Set(isBare ? ['{'] : openingsOf(format).map((opening) => opening[0] ?? ''))
  let from = 0
  for (let hasBegun = false; ;) {
    const found: Found =
      isBare && hasBegun ? { at: source.text.length, head: null } : findCall(source, from, { format, tools, firsts })
    const { at, head } = found
    const certain = source.text.slice(0, at)
    const isCall = head !== null && head !== 'held'
    // White space in front of a call is the template's, not the answer's.
    const shown = source.hasEnded && !isCall ? source.text.length : certain.trimEnd().length
    pushText(source, source.text.slice(0, shown))
    if (isCall) return head === 'broken' ? null : head
    if (source.hasEnded) return null
    drop(source, shown)
    hasBegun ||= shown > 0
    from = at - shown
    yield
  }
}

function findCall(source: OutputSource, from: number, { format, tools, firsts }: Search): Found {
  const { text, hasEnded } = source
  const openings = openingsOf(format)
  const isBare = openings.includes('')
  // Whoever else an answer is addressed to, or whatever else a JSON object names, is no tool.
  const needsName = isBare || !hasOwnTrigger(format)
  for (let at = isBare ? skipSpace(text, from) : from; at < text.length; at++) {
    const head = firsts.has(text[at] ?? '') ? matchHead(format, text, at, false) : null
    if (head === 'more') {
      if (!hasEnded) return { at, head: 'held' }
      if (!isBare && isOpened(text, at, openings)) return { at, head: 'broken' }
    } else if (head !== null && (!needsName || isKnown(head, tools))) return { at, head }
    if (isBare) break
  }
  return { at: text.length, head: null }
}

function isKnown(head: CallHead, tools: readonly Tool[] | null): boolean {
  return tools === null || tools.some(({ name }) => name === head.name)
}

function isOpened(text: string, at: number, openings: readonly string[]): boolean {
  return openings.some((opening) => opening !== '' && typeof matchLiteral(text, at, opening) === 'number')
}

/** Reads the calls of one section, beginning after the head of the first. */
function* readCalls(
  source: OutputSource,
  format: DerivedFormat,
  first: { readonly head: CallHead; readonly tools: readonly Tool[] | null },
): Reading {
  let head: CallHead | null = first.head
  while (head !== null) {
    source.push({ kind: 'call-start', name: head.name, id: head.id })
    drop(source, head.end)
    if (head.arguments !== null) pushArguments(source, head.arguments)
    else if (format.notation.kind === 'tagged') {
      const tool = first.tools?.find(({ name }) => name === head?.name) ?? null
      if (!(yield* readTaggedArguments(source, { ...format, notation: format.notation }, tool))) return
    } else {
      if (!(yield* readJsonArguments(source))) return
      if (format.notation.kind === 'envelope') yield* skipEnvelopeRest(source)
      else yield* skipPieces(source, format.notation.pieces.at(-1))
    }
    source.push({ kind: 'call-end' })
    head = yield* readBetween(source, format)
  }
}

/** The members after the arguments, up to the envelope's last brace; a forgotten brace is forgiven. */
function* skipEnvelopeRest(source: OutputSource): Reading {
  let isInString = false
  let depth = 1
  for (let index = 0; ; index++) {
    while (index >= source.text.length) {
      if (source.hasEnded) return
      yield
    }
    const character = source.text[index] ?? ''
    if (character === '"') isInString = !isInString
    else if (isInString) index += character === '\\' ? 1 : 0
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    else if (depth === 1 && !/[\s,:\w.+-]/u.test(character)) return
    if (depth === 0) return drop(source, index + 1)
  }
}

/** A literal after the arguments that belongs to the call itself. */
function* skipPieces(
  source: OutputSource,
  last: { readonly kind: string; readonly text?: string } | undefined,
): Reading {
  if (last?.kind === 'literal') yield* skipLiteral(source, last.text ?? '')
}

function* skipLiteral(source: OutputSource, literal: string): Reading {
  for (;;) {
    const at = skipSpace(source.text, 0)
    const end = matchLiteral(source.text, at, literal.trim())
    if (typeof end === 'number') return drop(source, end)
    if (end === null || source.hasEnded) return
    yield
  }
}

/** Whether the section may be ending: what ends a call may be what the end of the section begins with. */
function isUndecided({ hasEnded }: OutputSource, closed: number | 'more' | null): boolean {
  return closed === 'more' && !hasEnded
}

/** What stands after a call: the head of another one, or null where the section is over. */
function* readBetween(source: OutputSource, format: DerivedFormat): Reading<CallHead | null> {
  const { notation, section, separator } = format
  const trailing = notation.kind === 'tagged' ? [separator] : [notation.close, separator]
  const skipped = trailing.map((literal) => literal.trim()).filter((literal) => literal !== '')
  const close = section.close.trim()
  for (;;) {
    drop(source, skipSpace(source.text, 0))
    if (source.text === '' && source.hasEnded) return null
    const closed = close === '' ? null : matchLiteral(source.text, 0, close)
    const skip = firstMatch(skipped.map((literal) => matchLiteral(source.text, 0, literal)))
    const head = matchHead(format, source.text, 0, true)
    if (typeof closed === 'number') {
      drop(source, closed)
      drop(source, skipSpace(source.text, 0))
      return null
    }
    if (head !== null && head !== 'more') return head
    if (typeof skip === 'number' && !isUndecided(source, closed)) drop(source, skip)
    else if (source.hasEnded || (closed === null && skip === null && head === null)) return null
    else yield
  }
}
