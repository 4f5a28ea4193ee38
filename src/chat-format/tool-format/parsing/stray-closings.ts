// A model may write the closing marker of a call that it never began. It then
// stands on a line of its own, before the answer or behind it, and nobody is
// meant to see it. Anywhere else it is a word of the text: an answer may well
// speak of markers.

import type { ToolFormat } from '../tool-format.ts'
import { firstMatch, matchLiteral, skipSpace } from './match-literal.ts'
import type { ToolCallPart } from './tool-call-part.ts'

/** What begins and ends like a tag. A bracket or a fence closes many other things too. */
const tag = /^[^\p{L}\p{N}\s].*\p{L}.*[^\p{L}\p{N}\s]$/u

/** A longer run is no slip, and looking for its end again and again would take long. */
const runLengthMax = 512

/** White space and closing markers; `isOpen` where they go on to the end of the text. */
type Run = { readonly end: number; readonly markers: number; readonly isOpen: boolean }

/** Holds back closing markers that may turn out to be stray. `openings` are the texts that begin a call. */
export function createStrayFilter({ section, notation }: ToolFormat, openings: readonly string[]) {
  const closings = `${'close' in notation ? notation.close : ''} ${section.close}`.split(/\s+/u)
  const markers = closings.filter((closing) => tag.test(closing))
  const begun = openings.filter((opening) => opening !== '')
  const tailLength = Math.max(1, ...begun.map(({ length }) => length))
  let held = ''
  /** The end of the text that was shown, in which a marker may have begun. */
  let tail = ''
  let hasShown = false
  let isOver = markers.length === 0

  function feed(part: ToolCallPart): ToolCallPart[] {
    if (isOver) return [part]
    if (part.kind === 'call-start') return [...end(), part]
    if (part.kind !== 'text') return [...show(held.length), part]
    held += part.text
    return [...dropFirst(), ...show(heldFrom())]
  }

  /** The text is over: at the end of the output, or because a call begins. */
  function end(): ToolCallPart[] {
    const from = heldFrom()
    const shown = show(readRun(from).markers > 0 ? from : held.length)
    isOver = true
    return shown
  }

  /** Markers in front of the answer, once it is known that text follows on another line. */
  function dropFirst(): ToolCallPart[] {
    const { end: length, markers: count, isOpen } = readRun(0)
    if (hasShown || count === 0 || isOpen || length > runLengthMax) return []
    const text = held.slice(0, length)
    if (!text.slice(text.trimEnd().length).includes('\n')) return []
    held = held.slice(length)
    return [{ kind: 'stray', text }]
  }

  function show(length: number): ToolCallPart[] {
    const text = held.slice(0, length)
    held = held.slice(length)
    if (text === '') return []
    hasShown = true
    const seen = tail + text
    tail = seen.slice(-tailLength)
    if (!begun.some((opening) => seen.includes(opening))) return [{ kind: 'text', text }]
    // Text that has shown how a call begins is about calls, and their ends are a part of it.
    isOver = true
    const rest = held
    held = ''
    return [{ kind: 'text', text: text + rest }]
  }

  /** Where what may be stray begins: with the line break before it, or with the answer. */
  function heldFrom(): number {
    if (!hasShown && held.length <= runLengthMax && readRun(0).isOpen) return 0
    for (const { index, 0: space } of held.matchAll(/\s+/gu)) {
      const isLast = index + space.length === held.length
      const isNear = held.length - index <= runLengthMax
      if (isNear && (isLast || space.includes('\n')) && readRun(index).isOpen) return index
    }
    return held.length
  }

  function readRun(from: number): Run {
    return readClosings(held, from, markers)
  }

  return { feed, end }
}

function readClosings(text: string, from: number, markers: readonly string[]): Run {
  for (let count = 0, position = skipSpace(text, from); ; count++) {
    if (position === text.length) return { end: position, markers: count, isOpen: true }
    const match = firstMatch(markers.map((marker) => matchLiteral(text, position, marker)))
    if (typeof match !== 'number') return { end: position, markers: count, isOpen: match === 'more' }
    position = skipSpace(text, match)
  }
}
