import { firstMatch, matchLiteral, skipSpace } from '../tool-format/parsing/match-literal.ts'
import { drop, pushText, type OutputSource, type Reading } from '../tool-format/parsing/tool-call-part.ts'
import { readMembers, type MemberSyntax } from './loose-values.ts'

/**
 * Calls written like those of a programming language:
 *
 *     section = open call (separator call)* close
 *     call    = name bracket members syntax.close
 */
export type ListedSyntax = {
  readonly open: string
  readonly bracket: string
  readonly members: MemberSyntax
  readonly separator: string
  /** Nothing is complete before this has arrived: trying at every piece would take too long for long arguments. */
  readonly completedBy: string
  /** What may follow a call, in any order, and is no text. */
  readonly closings: readonly string[]
}

/** Reads an answer; the arguments of a call come at once, since they are not JSON until they are complete. */
export function* readListedCalls(source: OutputSource, syntax: ListedSyntax): Reading {
  while (yield* readText(source, syntax.open)) {
    do {
      if (!(yield* readCall(source, syntax))) return
    } while (yield* readSeparator(source, syntax))
  }
}

/** Passes text on until a section opens; false at the end of the output. */
function* readText(source: OutputSource, open: string): Reading<boolean> {
  for (;;) {
    const start = source.text.indexOf(open)
    const end = start === -1 ? source.text.length - heldLength(source.text, open) : start
    const shown = source.hasEnded && start === -1 ? source.text.length : source.text.slice(0, end).trimEnd().length
    pushText(source, source.text.slice(0, shown))
    if (start !== -1) {
      drop(source, start + open.length)
      return true
    }
    drop(source, shown)
    if (source.hasEnded) return false
    yield
  }
}

function* readCall(source: OutputSource, { bracket, members, completedBy }: ListedSyntax): Reading<boolean> {
  let start = -1
  while ((start = source.text.indexOf(bracket)) === -1) {
    if (source.hasEnded) return false
    yield
  }
  source.push({ kind: 'call-start', name: source.text.slice(0, start).trim(), id: null })
  drop(source, start + bracket.length)
  for (let seen = 0; ;) {
    const isWorthTrying = source.hasEnded || source.text.includes(completedBy, Math.max(0, seen - completedBy.length))
    const found = isWorthTrying ? readMembers(source.text, 0, members) : 'more'
    seen = source.text.length
    if (found !== null && found !== 'more') {
      source.push({ kind: 'arguments', text: found.json })
      source.push({ kind: 'call-end' })
      drop(source, found.end)
      return true
    }
    // What is neither right nor unfinished stays an open call, as if it had been broken off.
    if (source.hasEnded) return false
    yield
  }
}

/** Whether another call follows in the same section. */
function* readSeparator(source: OutputSource, { separator, closings, open }: ListedSyntax): Reading<boolean> {
  for (;;) {
    drop(source, skipSpace(source.text, 0))
    const separated = separator === '' ? null : matchLiteral(source.text, 0, separator)
    const closed = firstMatch(closings.map((closing) => matchLiteral(source.text, 0, closing)))
    const next = typeof separated === 'number' ? separated : closed
    if (typeof next === 'number') drop(source, next)
    if (typeof separated === 'number') return true
    if (typeof closed === 'number') continue
    if (source.hasEnded || (closed === null && separated === null)) return false
    if (source.text !== '' && matchLiteral(source.text, 0, open) === null && closed !== 'more') return false
    yield
  }
}

function heldLength(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(marker.slice(0, length))) return length
  }
  return 0
}
