import type { Tool } from '../../core/generation.ts'
import { isKnown, knownNotations } from '../known/notations.ts'
import { createSpaceStore } from '../space-store.ts'
import { readMarkedAnswer } from './parsing/read-answer.ts'
import { drop, type OutputSource, type Reading, type ToolCallPart } from './parsing/tool-call-part.ts'
import type { ToolFormat } from './tool-format.ts'
import { triggers } from './tool-grammar.ts'
import { firstMatch, matchLiteral, skipSpace } from './parsing/match-literal.ts'

export interface ToolCallParser {
  feed(text: string): ToolCallPart[]
  /** A call that the output broke off in has no `call-end`. */
  end(): ToolCallPart[]
}

/**
 * Reads a model's answer as it arrives, without its thinking.
 *
 * Text that could still become a marker is held back, and so is white space
 * before it. A marker without a call is text after all, except a closing one
 * that stands by itself before the text or behind it.
 */
export function createToolCallParser(format: ToolFormat, tools: readonly Tool[] | null): ToolCallParser {
  return createParser(format, (source) => readAnswer(source, format, tools))
}

/** Reads an answer of a model that may call nothing: calls in it are text, and what an answer begins with is none. */
export function createTextParser(format: ToolFormat): ToolCallParser {
  return createParser(format, (source) => readPlainAnswer(source, format))
}

function* readPlainAnswer(source: OutputSource, format: ToolFormat): Reading {
  yield* dropOpening(source, format)
  for (;;) {
    if (source.text !== '') source.push({ kind: 'text', text: source.text })
    drop(source, source.text.length)
    if (source.hasEnded) return
    yield
  }
}

function createParser(format: ToolFormat, read: (source: OutputSource) => Reading): ToolCallParser {
  let parts: ToolCallPart[] = []
  const source: OutputSource = { text: format.lead, hasEnded: false, push: (part) => parts.push(part) }
  const reading = read(source)
  const spaces = createSpaceStore()
  const strays = createStrayFilter(format, triggers(format))
  let { lead } = format
  const advance = () => {
    reading.next()
    const found = parts.map((part) => {
      // What the prompt began a call with is no text of an answer that is none.
      const shown = part.kind === 'text' && part.text.startsWith(lead) ? part.text.slice(lead.length) : null
      lead = ''
      return shown === null ? part : { kind: 'text' as const, text: shown }
    })
    parts = []
    return found.filter((part) => part.kind !== 'text' || part.text !== '').flatMap((part) => strays.feed(part))
  }
  return {
    feed(text) {
      if (spaces.keeps(source.text, text)) return []
      source.text += spaces.take() + text
      return advance()
    },
    end() {
      source.text += spaces.take()
      source.hasEnded = true
      return [...advance(), ...strays.end()]
    },
  }
}

function* readAnswer(source: OutputSource, format: ToolFormat, tools: readonly Tool[] | null): Reading {
  const { notation } = format
  if (format.textOpen !== '') yield* dropOpening(source, format)
  if (isKnown(notation)) yield* knownNotations[notation.kind].read(source, format)
  else yield* readMarkedAnswer(source, { ...format, notation }, tools)
}

/** Drops what a plain answer begins with. */
function* dropOpening(source: OutputSource, { textOpen }: ToolFormat): Reading {
  for (;;) {
    const opened = textOpen === '' ? null : matchLiteral(source.text, skipSpace(source.text, 0), textOpen)
    if (typeof opened === 'number') {
      drop(source, opened)
      if (/\s$/u.test(textOpen)) yield* dropSpace(source)
      return
    }
    if (opened === null || source.hasEnded) return
    yield
  }
}

function* dropSpace(source: OutputSource): Reading {
  for (;;) {
    drop(source, skipSpace(source.text, 0))
    if (source.text !== '' || source.hasEnded) return
    yield
  }
}

// A model may write the closing marker of a call that it never began. It then
// stands on a line of its own, before the answer or behind it, and nobody is
// meant to see it. Anywhere else it is a word of the text: an answer may well
// speak of markers.

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
