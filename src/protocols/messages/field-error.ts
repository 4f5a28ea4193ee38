import { invalidRequest, type ApiError, type ErrorPath, type FieldFault } from '../../core/error.ts'

/** Words a fault the way this format does: the dotted path of the field, then what is wrong with it. */
export function wordFault(path: ErrorPath, _fault: FieldFault, text: string): string {
  if (path.length === 0) return 'The request body must be a JSON object.'
  return `${writePath(path, text)}: ${text}`
}

/** The error for a field whose shape is right and whose meaning is not. */
export function fieldError(path: ErrorPath, fault: FieldFault, text: string): ApiError {
  return invalidRequest(path, fault, wordFault(path, fault, text))
}

/** The words for a tagged object whose `type` is none of those known; `wordFault` then names the object. */
export function wordUnknownTag(tag: unknown, expected: readonly string[]): string {
  // Not by its own conversion to a string: a client's object may bring a `toString` that is none.
  const found = shorten(typeof tag === 'string' ? tag : (JSON.stringify(tag) ?? 'nothing'))
  return `${unknownTagStart}'${found}' found using 'type' does not match any of the expected tags: ${listTags(expected)}`
}

export function listTags(tags: readonly string[]): string {
  return tags.map((tag) => `'${tag}'`).join(', ')
}

/** Text of the client's that an error quotes; a long one would only hide the rest of the message. */
export function shorten(text: string): string {
  return text.length <= quotedCharactersMax ? text : `${text.slice(0, quotedCharactersMax).toWellFormed()}...`
}

const quotedCharactersMax = 100
const unknownTagStart = 'Input tag '

function writePath(path: ErrorPath, text: string): string {
  const named = path.at(-1) === 'type' && text.startsWith(unknownTagStart) ? path.slice(0, -1) : path
  // Agents recognise a rejected tool schema by this spelling of its path.
  if (named[0] === 'tools' && named[2] === 'input_schema') return named.toSpliced(2, 0, 'custom').join('.')
  return named.join('.')
}
