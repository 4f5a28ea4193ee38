import { findSeam, sharedEnd, sharedStart } from './compare-texts.ts'
import type { ProbeCall } from './probes.ts'
import type { TaggedNotation } from './tool-format.ts'

/** The texts between the sentinels of a call with two arguments. */
type TaggedGaps = {
  readonly start: number
  /** Where the last value ends. */
  readonly end: number
  readonly nameToKey: string
  readonly middle: string
  readonly valueToKey: string
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
  return { start: places[0]?.start ?? 0, end: position, nameToKey, middle, valueToKey }
}

/**
 * Cuts the gaps into markers. With the texts that follow a call with arguments
 * (`tail`) and the name of one without (`emptyTail`) there are four equations:
 *
 *     nameToKey  = nameEnd open        valueToKey = close separator open
 *     emptyTail  = nameEnd callClose   tail       = close callClose
 */
export function solveTags(
  gaps: TaggedGaps,
  tail: string,
  emptyTail: string,
): (Pick<TaggedNotation, 'nameEnd' | 'parameter'> & { readonly callClose: string }) | null {
  const { nameToKey, middle, valueToKey } = gaps
  const nameEndMax = sharedStart(nameToKey, emptyTail)
  const openMax = sharedEnd(nameToKey, valueToKey)
  const nameEndMin = nameToKey.length - openMax
  if (nameEndMin > nameEndMax) return null
  const preferred = findSeam(nameToKey, nameEndMin, nameEndMax)
  const candidates = [preferred, ...Array.from({ length: nameEndMax - nameEndMin + 1 }, (_, i) => nameEndMax - i)]
  for (const cut of candidates) {
    const open = nameToKey.slice(cut)
    const callClose = emptyTail.slice(cut)
    if (open.trim() === '' || callClose.trim() === '' || !tail.endsWith(callClose)) continue
    const close = tail.slice(0, tail.length - callClose.length)
    const separatorEnd = valueToKey.length - open.length
    if (!valueToKey.startsWith(close) || close.length > separatorEnd || close.trim() === '') continue
    const separator = valueToKey.slice(close.length, separatorEnd)
    return { nameEnd: nameToKey.slice(0, cut), parameter: { open, middle, close, separator }, callClose }
  }
  return null
}
