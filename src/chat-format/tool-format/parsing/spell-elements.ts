import type { JsonSchema } from '../../../core/generation.ts'
import { literalOf } from './match-literal.ts'
import { spellValue } from './spell-value.ts'
import type { TaggedParameter } from '../tool-format.ts'

/** The JSON of a value that is bare text or, where the notation writes lists and objects so, further elements. */
export function spellElements(parameter: TaggedParameter, text: string, schema: JsonSchema | null): string {
  if (parameter.itemName === null) return spellValue(text, schema)
  const elements = readElements(parameter, text)
  if (elements === null || elements.length === 0) {
    const isEmpty = text.trim() === ''
    if (isEmpty && schema?.['type'] === 'array') return '[]'
    return isEmpty && schema?.['type'] === 'object' ? '{}' : spellValue(text, schema)
  }
  const isList = elements.every(({ name }) => name === parameter.itemName)
  const spelled = elements.map(({ name, inner }) => {
    const value = spellElements(parameter, inner, memberSchema(schema, isList ? 'items' : name, isList))
    return isList ? value : `${JSON.stringify(name)}: ${value}`
  })
  return isList ? `[${spelled.join(', ')}]` : `{${spelled.join(', ')}}`
}

type Element = { readonly name: string; readonly inner: string }

/** The elements that a text consists of; null where it is anything else. */
function readElements({ open, middle, close }: TaggedParameter, text: string): Element[] | null {
  const elements: Element[] = []
  const opening = open.trim()
  for (let at = 0; at < text.length;) {
    if (!text.startsWith(opening, at)) return text.slice(at).trim() === '' ? elements : null
    const nameEnd = text.indexOf(middle.trim(), at + opening.length)
    if (nameEnd === -1) return null
    const name = text.slice(at + opening.length, nameEnd)
    const start = nameEnd + middle.trim().length
    const end = endOfElement(text, start, {
      open: opening + name + middle.trim(),
      close: literalOf(close, name).trim(),
    })
    if (end === null) return null
    elements.push({ name, inner: text.slice(start, end.inner) })
    at = end.whole
  }
  return elements
}

/** Where an element ends; others of its name may stand inside it. */
function endOfElement(text: string, start: number, { open, close }: { readonly open: string; readonly close: string }) {
  let depth = 1
  for (let at = start; at < text.length; at++) {
    if (text.startsWith(open, at)) depth++
    else if (text.startsWith(close, at) && --depth === 0) return { inner: at, whole: at + close.length }
  }
  return null
}

function memberSchema(schema: JsonSchema | null, name: string, isItem: boolean): JsonSchema | null {
  const holder = isItem ? schema : schema?.['properties']
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return null
  const member: unknown = (holder as Record<string, unknown>)[name]
  return typeof member === 'object' && member !== null && !Array.isArray(member) ? (member as JsonSchema) : null
}
