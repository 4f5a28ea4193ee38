import { skipSpace } from '../tool-format/parsing/match-literal.ts'

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
