import { isDeepStrictEqual } from 'node:util'
import type { ProbeCall } from './probes.ts'
import { endOfJson } from './parsing/scan-json.ts'
import { nameSlot, type CallPiece, type Enclosure, type TaggedNotation } from './tool-format.ts'
import { findMarkerStart, findSeam, isSeam, sharedEnd, sharedStart } from './compare-texts.ts'

/** One call found in rendered text: where it stands and what it is made of. */
export type FoundCall = {
  readonly start: number
  readonly end: number
  readonly pieces: readonly CallPiece[]
  readonly keys: { readonly nameKey: string; readonly argumentsKey: string; readonly idKey: string | null } | null
}

type Span = { readonly start: number; readonly end: number }
type Slot = Span & { readonly kind: 'name' | 'id' | 'arguments' }

/** Finds a call whose arguments are written as one JSON object, or null. */
export function findJsonCall(text: string, from: number, call: ProbeCall): FoundCall | null {
  const given = findObject(text, from, call.arguments)
  const nameStart = text.indexOf(call.name, from)
  if (given === null || nameStart === -1) return null
  const slots: Slot[] = [
    { kind: 'name', start: nameStart, end: nameStart + call.name.length },
    { kind: 'arguments', ...given },
  ]
  const idStart = text.indexOf(call.id, from)
  // An id that holds the name is written once for both; only its number is left over.
  const hasOwnId = idStart !== -1 && !call.id.includes(call.name)
  if (hasOwnId) slots.push({ kind: 'id', start: idStart, end: idStart + call.id.length })
  slots.sort((a, b) => a.start - b.start)
  const envelope = findEnvelope(text, from, slots.slice(0, 2), call)
  const span = envelope ?? { start: slots[0]?.start ?? 0, end: slots.at(-1)?.end ?? 0, keys: null }
  const inside = slots.filter((slot) => slot.start >= span.start && slot.end <= span.end)
  return { ...span, pieces: cutPieces(text, span, inside) }
}

function findObject(text: string, from: number, wanted: object): Span | null {
  const key = text.indexOf(`"${Object.keys(wanted)[0] ?? ''}"`, from)
  if (key === -1) return null
  const start = text.lastIndexOf('{', key)
  return start < from ? null : parseAt(text, start, (value) => isDeepStrictEqual(value, wanted))
}

function parseAt(text: string, start: number, accepts: (value: object) => boolean): Span | null {
  const end = endOfJson(text, start)
  if (typeof end !== 'number') return null
  try {
    const value: unknown = JSON.parse(text.slice(start, end))
    return typeof value === 'object' && value !== null && accepts(value) ? { start, end } : null
  } catch {
    return null
  }
}

/** The smallest JSON object that has the name and the arguments among its members. */
function findEnvelope(text: string, from: number, slots: readonly Slot[], call: ProbeCall) {
  for (let start = Math.min(...slots.map((slot) => slot.start)); start > from;) {
    start = text.lastIndexOf('{', start - 1)
    if (start < from) return null
    let members: readonly (readonly [string, unknown])[] = []
    const span = parseAt(text, start, (value) => {
      members = Object.entries(value)
      return true
    })
    const nameKey = members.find(([, value]) => value === call.name)?.[0]
    const argumentsKey = members.find(([, value]) => isDeepStrictEqual(value, call.arguments))?.[0]
    if (span === null || nameKey === undefined || argumentsKey === undefined) continue
    return { ...span, keys: { nameKey, argumentsKey, idKey: members.find(([, v]) => v === call.id)?.[0] ?? null } }
  }
  return null
}

function cutPieces(text: string, span: Span, slots: readonly Slot[]): CallPiece[] {
  const pieces: CallPiece[] = []
  let position = span.start
  const pushLiteral = (end: number) => {
    if (end > position) pieces.push({ kind: 'literal', text: text.slice(position, end) })
  }
  for (const slot of slots) {
    pushLiteral(slot.start)
    pieces.push({ kind: slot.kind })
    position = slot.end
  }
  pushLiteral(span.end)
  return pieces
}

/** The pieces of two calls as one pattern; a number that counts up from one to the other becomes an index. */
export function mergePieces(a: readonly CallPiece[], b: readonly CallPiece[]): CallPiece[] | null {
  const merged: CallPiece[] = []
  if (a.length !== b.length) return null
  for (const [index, one] of a.entries()) {
    const two = b[index]
    if (two === undefined || one.kind !== two.kind) return null
    if (one.kind !== 'literal' || two.kind !== 'literal' || one.text === two.text) {
      merged.push(one)
      continue
    }
    const partsOne = one.text.split(/(\d+)/u)
    const partsTwo = two.text.split(/(\d+)/u)
    const counts = partsOne.map((part, at) => part !== partsTwo[at])
    if (partsOne.length !== partsTwo.length || counts.filter(Boolean).length !== 1) return null
    const at = counts.indexOf(true)
    if (at % 2 === 0) return null
    merged.push({ kind: 'literal', text: partsOne.slice(0, at).join('') }, { kind: 'index' })
    merged.push({ kind: 'literal', text: partsOne.slice(at + 1).join('') })
  }
  return merged.filter((piece) => piece.kind !== 'literal' || piece.text !== '')
}

/** The texts between the sentinels of a call with two arguments; `nameSlot` stands for a name that is repeated. */
type TaggedGaps = {
  readonly start: number
  /** Where the last value ends. */
  readonly end: number
  readonly nameToKey: string
  readonly middle: string
  readonly valueToKey: string
  /** The name of the call and that of its last argument, which what follows may repeat. */
  readonly name: string
  readonly lastKey: string
}

/** Finds a call whose arguments stand in the text one by one, each after its name. */
export function findTaggedCall(text: string, from: number, call: ProbeCall): TaggedGaps | null {
  const [[keyOne, valueOne] = [], [keyTwo, valueTwo] = []] = Object.entries(call.arguments)
  const places: { start: number; end: number }[] = []
  let position = from
  for (const wanted of [call.name, keyOne, valueOne, keyTwo, valueTwo]) {
    const start = text.indexOf(String(wanted), position)
    if (start === -1) return null
    position = start + String(wanted).length
    places.push({ start, end: position })
  }
  const gaps = places.slice(1).map((place, index) => text.slice(places[index]?.end, place.start))
  const [nameToKey = '', middle = '', valueToKey = '', middleTwo = ''] = gaps
  if (middle !== middleTwo || middle.trim() === '') return null
  return {
    start: places[0]?.start ?? 0,
    end: position,
    nameToKey: nameToKey.replaceAll(call.name, nameSlot),
    middle,
    valueToKey: valueToKey.replaceAll(String(keyOne), nameSlot),
    name: call.name,
    lastKey: String(keyTwo),
  }
}

type Tags = Pick<TaggedNotation, 'nameEnd'> & {
  readonly parameter: Enclosure & { readonly middle: string; readonly separator: string }
  readonly callClose: string
}

/**
 * Cuts the gaps into markers. With the texts that follow a call with arguments
 * (`tail`) and the name of one without (`emptyTail`) there are four equations:
 *
 *     nameToKey  = nameEnd open        valueToKey = close separator open
 *     emptyTail  = nameEnd callClose   tail       = close callClose
 */
export function solveTags(gaps: TaggedGaps, tail: string, emptyTail: string): Tags | null {
  const { nameToKey, valueToKey } = gaps
  const [behind, empty] = [tail.replaceAll(gaps.lastKey, nameSlot), emptyTail.replaceAll(gaps.name, nameSlot)]
  const nameEndMax = sharedStart(nameToKey, empty)
  const openMax = sharedEnd(nameToKey, valueToKey)
  const nameEndMin = nameToKey.length - openMax
  const cuts = Array.from({ length: Math.max(0, nameEndMax - nameEndMin + 1) }, (_, index) => nameEndMax - index)
  const preferred = nameEndMin > nameEndMax ? [] : [findSeam(nameToKey, nameEndMin, nameEndMax)]
  const solved = [...preferred, ...cuts].flatMap((cut) => solveAt(gaps, { cut, tail: behind, emptyTail: empty }) ?? [])
  // A call without arguments may hold more white space, so that what ends one shows only where calls end alike.
  const [first] = solved.length > 0 ? solved : solveByTail(gaps, behind, empty)
  if (first === undefined || !first.parameter.close.includes(nameSlot)) return first ?? null
  // Closing tags that repeat the name begin as the opening ones do.
  const likeness = ({ parameter: { open, close } }: Tags) => sharedStart(open, close)
  return (
    solved.toSorted((a, b) => likeness(b) - likeness(a) || b.parameter.open.length - a.parameter.open.length)[0] ??
    first
  )
}

type Cut = { readonly cut: number; readonly tail: string; readonly emptyTail: string }

function solveAt({ nameToKey, middle, valueToKey }: TaggedGaps, { cut, tail, emptyTail }: Cut): Tags | null {
  const open = nameToKey.slice(cut)
  const callClose = emptyTail.slice(cut)
  if (callClose.trim() === '' || !tail.endsWith(callClose)) return null
  const close = tail.slice(0, tail.length - callClose.length)
  const separatorEnd = valueToKey.length - open.length
  if (!valueToKey.startsWith(close) || close.length > separatorEnd) return null
  const separator = valueToKey.slice(close.length, separatorEnd)
  if (close.trim() === '' || (open.trim() === '' && separator.trim() === '')) return null
  return { nameEnd: nameToKey.slice(0, cut), parameter: { open, middle, close, separator }, callClose }
}

function solveByTail(gaps: TaggedGaps, tail: string, emptyTail: string): Tags[] {
  const { nameToKey } = gaps
  const closeStart = tail.length - sharedEnd(tail, emptyTail)
  const callClose = tail.slice(findMarkerStart(tail, closeStart))
  for (let cut = nameToKey.length; cut >= 0; cut--) {
    if (!isSeam(nameToKey, cut) || emptyTail.slice(0, cut) !== nameToKey.slice(0, cut)) continue
    const found = solveAt(gaps, { cut, tail, emptyTail: nameToKey.slice(0, cut) + callClose })
    if (found !== null && found.parameter.open.trim() !== '') return [found]
  }
  return []
}
