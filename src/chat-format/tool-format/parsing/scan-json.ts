import { skipSpace, type Match } from './match-literal.ts'
import { drop, pushArguments, type OutputSource, type Reading } from './tool-call-part.ts'

/** Where the JSON value ends that begins at a place. Checks brackets and quotes, not the whole syntax. */
export function endOfJson(text: string, at: number): Match {
  const first = text[at]
  if (first === undefined) return 'more'
  if (first === '"') return endOfString(text, at)
  if (first === '{' || first === '[') {
    const scanner = createJsonScanner()
    return scanner.scan(text, at) ?? 'more'
  }
  const word = /[-+.\w]*/uy
  word.lastIndex = at
  const end = at + (word.exec(text)?.[0].length ?? 0)
  if (end === at) return null
  return end === text.length ? 'more' : end
}

function endOfString(text: string, at: number): Match {
  for (let index = at + 1; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '"') return index + 1
  }
  return 'more'
}

/** Passes the arguments of a call on as they arrive; false where the output ends inside the arguments. */
export function* readJsonArguments(source: OutputSource): Reading<boolean> {
  const scanner = createJsonScanner()
  for (;;) {
    const end = scanner.scan(source.text, 0)
    pushArguments(source, source.text.slice(0, end ?? source.text.length))
    drop(source, end ?? source.text.length)
    if (end !== null) return true
    if (source.hasEnded) return false
    yield
  }
}

/** Follows brackets and strings through pieces of text. */
function createJsonScanner() {
  let depth = 0
  let isInString = false
  let isEscaped = false

  function step(character: string): boolean {
    if (isEscaped) isEscaped = false
    else if (isInString) {
      if (character === '\\') isEscaped = true
      if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      depth--
      return depth === 0
    }
    return false
  }

  return {
    /** The index after the value's last bracket, or null when the text ends before it. */
    scan(text: string, from: number): number | null {
      for (let index = from; index < text.length; index++) if (step(text[index] ?? '')) return index + 1
      return null
    },
  }
}

export type EnvelopeKeys = {
  readonly nameKey: string
  readonly argumentsKey: string
  readonly idKey: string | null
}

/** The head of an envelope; `arguments` is null where they begin at `end` and are still to be read. */
export type EnvelopeHead = {
  readonly name: string
  readonly id: string | null
  readonly arguments: string | null
  readonly end: number
}

/** Reads a JSON object's members, in any order, until the name and the place of the arguments are known. */
export function readEnvelope(text: string, at: number, keys: EnvelopeKeys): EnvelopeHead | 'more' | null {
  let position = skipSpace(text, at)
  if (position >= text.length) return 'more'
  if (text[position] !== '{') return null
  position++
  const members = new Map<string, string>()
  for (;;) {
    position = skipSpace(text, position)
    if (text[position] === ',') position = skipSpace(text, position + 1)
    if (position >= text.length) return 'more'
    if (text[position] === '}') return finishEnvelope(members, keys, position + 1)
    const key = readKey(text, position)
    if (key === null || key === 'more') return key
    const { name } = known(members, keys)
    const isObject = text[key.end] === '{'
    if (key.key === keys.argumentsKey && name !== null && isObject) {
      return { ...known(members, keys), name, arguments: null, end: key.end }
    }
    const end = endOfJson(text, key.end)
    if (typeof end !== 'number') return end
    members.set(key.key, text.slice(key.end, end))
    position = end
  }
}

function readKey(text: string, at: number): { readonly key: string; readonly end: number } | 'more' | null {
  if (text[at] !== '"') return null
  const end = endOfString(text, at)
  if (typeof end !== 'number') return end
  const key = parseString(text.slice(at, end))
  const colon = skipSpace(text, end)
  if (colon >= text.length) return 'more'
  if (key === null || text[colon] !== ':') return null
  const value = skipSpace(text, colon + 1)
  return value >= text.length ? 'more' : { key, end: value }
}

function finishEnvelope(members: ReadonlyMap<string, string>, keys: EnvelopeKeys, end: number): EnvelopeHead | null {
  const { name, id } = known(members, keys)
  const given = members.get(keys.argumentsKey) ?? '{}'
  // Some models encode the object twice.
  const decoded = given.startsWith('"') ? (parseString(given) ?? '') : given === 'null' ? '{}' : given
  return name === null || !decoded.startsWith('{') ? null : { name, id, arguments: decoded, end }
}

function known(members: ReadonlyMap<string, string>, keys: EnvelopeKeys) {
  const name = parseString(members.get(keys.nameKey) ?? '')
  const id = keys.idKey === null ? undefined : members.get(keys.idKey)
  return { name: name === '' ? null : name, id: id === undefined ? null : (parseString(id) ?? id) }
}

function parseString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
