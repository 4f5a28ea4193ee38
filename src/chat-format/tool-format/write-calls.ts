import { literalOf } from './parsing/match-literal.ts'
import {
  type CallPiece,
  type DerivedNotation,
  indexSlot,
  type JsonType,
  type TaggedNotation,
  type TaggedParameter,
  type TemplateToolCall,
  type ToolFormat,
  type ValueFrame,
} from './tool-format.ts'

type Derived = ToolFormat & { readonly notation: DerivedNotation }

/** A section of calls as the model writes it, for templates that have no place for one. */
export function writeSection(format: Derived, calls: readonly TemplateToolCall[]): string {
  const { section, separator } = format
  return section.open + calls.map((call, index) => writeCall(format, call, index)).join(separator) + section.close
}

function writeCall({ notation }: Derived, call: TemplateToolCall, index: number): string {
  const inner =
    notation.kind === 'tagged'
      ? writeTagged(notation, call, index)
      : notation.pieces.map((piece) => writePiece(piece, call, index)).join('')
  return notation.open + inner + notation.close
}

function writePiece(piece: CallPiece, { id, function: called }: TemplateToolCall, index: number): string {
  switch (piece.kind) {
    case 'literal':
      return piece.text
    case 'name':
      return called.name
    case 'id':
      return id
    case 'index':
      return String(index)
    case 'arguments':
      return typeof called.arguments === 'string' ? called.arguments : spacedJson(called.arguments)
  }
}

function writeTagged(
  { nameEnd, parameter }: TaggedNotation,
  { function: called }: TemplateToolCall,
  index: number,
): string {
  const given = typeof called.arguments === 'string' ? { arguments: called.arguments } : called.arguments
  const members = Object.entries(given).map(([key, value]) => writeMember(parameter, key, value))
  const behind = literalOf(nameEnd, called.name).replaceAll(indexSlot, String(index))
  return called.name + behind + members.join(parameter.separator)
}

function writeMember(parameter: TaggedParameter, key: string, value: unknown): string {
  const { middle, close } = frameOf(parameter, value)
  return parameter.open + key + middle + writeValue(parameter, value) + literalOf(close, key)
}

function writeValue(parameter: TaggedParameter, value: unknown): string {
  const { guard, itemName } = parameter
  if (typeof value === 'string') {
    return guard !== null && /[<>&\n]/u.test(value) ? guard.open + value + guard.close : value
  }
  if (itemName === null || typeof value !== 'object' || value === null) return spacedJson(value)
  const members = Array.isArray(value) ? value.map((item: unknown) => [itemName, item] as const) : Object.entries(value)
  return members.map(([key, member]) => writeMember(parameter, key, member)).join('')
}

/** What stands around a value of this type. */
export function frameOf(parameter: TaggedParameter, value: unknown): ValueFrame {
  return parameter.typed[jsonType(value)] ?? parameter
}

export function jsonType(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return typeof value as 'string' | 'number' | 'boolean' | 'object'
}

/** JSON with the blanks that templates write, and models have learned. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`)
  return `{${members.join(', ')}}`
}
