import { firstMatch, matchLiteral, skipSpace, type Match } from '../tool-format/parsing/match-literal.ts'
import { drop, pushText, type OutputSource, type Reading } from '../tool-format/parsing/tool-call-part.ts'

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
    // A call that is neither right nor unfinished stays open, as if it had been broken off.
    if (source.hasEnded) return false
    yield
  }
}

/** Whether another call follows in the same section. */
function* readSeparator(source: OutputSource, { separator, closings, open }: ListedSyntax): Reading<boolean> {
  for (let isClosed = false; ;) {
    drop(source, skipSpace(source.text, 0))
    const separated = separator === '' ? null : matchLiteral(source.text, 0, separator)
    const closed = firstMatch(closings.map((closing) => matchLiteral(source.text, 0, closing)))
    if (typeof separated === 'number') {
      drop(source, separated)
      return true
    }
    if (typeof closed === 'number') {
      drop(source, closed)
      isClosed = true
      continue
    }
    if (source.text !== '' && closed === null && separated === null) {
      // Where nothing but white space separates them, whatever does not close the section is the next call.
      return separator === '' && !isClosed && /^\w/u.test(source.text)
    }
    if (source.hasEnded || !isUndecided(source.text, open, closed)) return false
    yield
  }
}

function isUndecided(text: string, open: string, closed: Match): boolean {
  return text === '' || closed === 'more' || matchLiteral(text, 0, open) !== null
}

function heldLength(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(marker.slice(0, length))) return length
  }
  return 0
}

/** Notations that are like JSON and yet are not: other quotes, keys without quotes, other constants. */
export type LooseDialect = {
  /** With `escapes`, a backslash in a string means what it means in JSON or Python. */
  readonly quotes: readonly { readonly mark: string; readonly escapes: boolean }[]
}

export type LooseResult = { readonly json: string; readonly end: number } | 'more' | null

const words: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null', '': 'null' }
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '0': '\0', '\n': '' }

/** A nesting deeper than this is no sensible argument, and reading it could exhaust the stack. */
const depthMax = 200

/** Reads one value and gives it as JSON. */
export function readLooseValue(text: string, at: number, dialect: LooseDialect, depth = 0): LooseResult {
  const start = skipSpace(text, at)
  if (start >= text.length) return 'more'
  if (depth > depthMax) return null
  const string = readString(text, start, dialect)
  if (string !== null) return string === 'more' ? string : { json: JSON.stringify(string.value), end: string.end }
  if (text[start] === '{') return readMembers(text, start + 1, { dialect, close: '}', assign: ':' }, depth + 1)
  if (text[start] === '[') return readItems(text, start + 1, dialect, depth + 1)
  const word = /[^,\]})]*/uy
  word.lastIndex = start
  const raw = word.exec(text)?.[0] ?? ''
  const end = start + raw.length
  return end >= text.length ? 'more' : { json: spellWord(raw.trim()), end }
}

export type MemberSyntax = { readonly dialect: LooseDialect; readonly close: string; readonly assign: string }

/** Reads `key: value, …` up to and including the closing bracket. */
export function readMembers(text: string, at: number, syntax: MemberSyntax, depth = 0): LooseResult {
  const members: string[] = []
  let position = at
  for (;;) {
    position = skipSpace(text, position)
    if (text[position] === ',') position = skipSpace(text, position + 1)
    if (position >= text.length) return 'more'
    if (text[position] === syntax.close) return { json: `{${members.join(', ')}}`, end: position + 1 }
    const key = readKey(text, position, syntax)
    if (key === null || key === 'more') return key
    const value = readLooseValue(text, key.end, syntax.dialect, depth)
    if (value === null || value === 'more') return value
    members.push(`${JSON.stringify(key.value)}: ${value.json}`)
    position = value.end
  }
}

function readItems(text: string, at: number, dialect: LooseDialect, depth: number): LooseResult {
  const items: string[] = []
  let position = skipSpace(text, at)
  if (text[position] === ']') return { json: '[]', end: position + 1 }
  for (;;) {
    const value = readLooseValue(text, position, dialect, depth)
    if (value === null || value === 'more') return value
    items.push(value.json)
    position = skipSpace(text, value.end)
    if (position >= text.length) return 'more'
    if (text[position] === ']') return { json: `[${items.join(', ')}]`, end: position + 1 }
    if (text[position] !== ',') return null
    position++
  }
}

type StringResult = { readonly value: string; readonly end: number } | 'more' | null

function readKey(text: string, at: number, { dialect, assign }: MemberSyntax): StringResult {
  const quoted = readString(text, at, dialect)
  if (quoted === 'more') return 'more'
  const end = text.indexOf(assign, quoted?.end ?? at)
  if (end === -1) return 'more'
  return { value: quoted?.value ?? text.slice(at, end).trim(), end: end + assign.length }
}

function readString(text: string, at: number, { quotes }: LooseDialect): StringResult {
  for (const { mark, escapes: hasEscapes } of quotes) {
    if (text.startsWith(mark, at))
      return hasEscapes ? readEscaped(text, at + mark.length, mark) : readRaw(text, at, mark)
    if (mark.startsWith(text.slice(at))) return 'more'
  }
  return null
}

function readRaw(text: string, at: number, mark: string): StringResult {
  const start = at + mark.length
  const end = text.indexOf(mark, start)
  return end === -1 ? 'more' : { value: text.slice(start, end), end: end + mark.length }
}

function readEscaped(text: string, at: number, mark: string): StringResult {
  let value = ''
  for (let index = at; index < text.length; index++) {
    const character = text[index] ?? ''
    if (character === mark) return { value, end: index + 1 }
    if (character !== '\\') {
      value += character
      continue
    }
    const code = /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8}))/iuy
    code.lastIndex = index
    const match = code.exec(text)
    const next = text[index + 1] ?? ''
    value += match === null ? (escapes[next] ?? next) : decode(match[1] ?? match[2] ?? match[3] ?? '')
    index += match === null ? 1 : match[0].length - 1
  }
  return 'more'
}

function decode(hex: string): string {
  const code = Number.parseInt(hex, 16)
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
}

function spellWord(word: string): string {
  if (Object.hasOwn(words, word)) return words[word] ?? 'null'
  try {
    JSON.parse(word)
    return word
  } catch {
    return JSON.stringify(word)
  }
}
