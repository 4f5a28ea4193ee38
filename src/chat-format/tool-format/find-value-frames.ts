import { sharedEnd } from './compare-texts.ts'
import { sentinels, type ProbeCall } from './probes.ts'
import { nameSlot, type Enclosure, type JsonType, type TaggedParameter, type ValueFrame } from './tool-format.ts'
import { jsonType, spacedJson } from './write-calls.ts'

/** Values that no template writes by itself, one of each type but text. */
const values: readonly unknown[] = [73_519, 73.519, true, null, ['Vinaqx'], { kyinqx: 'Vinaqx' }]

/** Holds what templates look for that put a guard around texts. */
const hostile = 'Vigaqx <b> & "c"\nVigeqx'

type Strings = ValueFrame & { readonly open: string; readonly separator: string }

/**
 * Finds what stands around values that are no plain text. `show` gives what is written of a call
 * before its end, or null.
 */
export function findValueFrames(
  strings: Strings,
  call: ProbeCall,
  show: (call: ProbeCall) => string | null,
): Pick<TaggedParameter, 'typed' | 'guard' | 'itemName'> {
  const shownOf = (value: unknown): string | null => {
    const [one, two] = sentinels.keys
    const shown = show({ ...call, arguments: { [one]: 'Vozaqone', [two]: value } })
    const start = shown?.indexOf(two, shown.indexOf('Vozaqone')) ?? -1
    return shown === null || start === -1 ? null : shown.slice(start + two.length)
  }
  const typed: Partial<Record<JsonType, ValueFrame>> = {}
  for (const value of values) {
    const frame = frameAround(shownOf(value), value)
    if (frame === null || isSame(frame, strings)) continue
    // White space behind a closing tag is what separates arguments.
    const isClosedAlike = frame.close.trim() === strings.close.trim()
    typed[jsonType(value)] = isClosedAlike ? { ...frame, close: strings.close } : frame
  }
  return { typed, guard: guardIn(shownOf(hostile), strings), itemName: itemNameIn(shownOf(['Vinaqx']), strings) }
}

function frameAround(shown: string | null, value: unknown): ValueFrame | null {
  if (shown === null) return null
  for (const spelled of [
    JSON.stringify(value),
    spacedJson(value),
    ...(value === true ? ['True'] : []),
    ...(value === null ? ['None'] : []),
  ]) {
    const start = shown.lastIndexOf(spelled)
    if (start === -1) continue
    const close = shown.slice(start + spelled.length).replaceAll(sentinels.keys[1], nameSlot)
    return { middle: shown.slice(0, start), close }
  }
  return null
}

/** White space between a value's end and the next markup may be the call's. */
function isSame(a: ValueFrame, b: ValueFrame): boolean {
  return a.middle === b.middle && a.close.trim() === b.close.trim()
}

function guardIn(shown: string | null, { middle, close }: Strings): Enclosure | null {
  const start = shown?.indexOf(hostile) ?? -1
  if (shown === null || start === -1 || !shown.startsWith(middle)) return null
  const behind = shown
    .slice(start + hostile.length)
    .replaceAll(sentinels.keys[1], nameSlot)
    .trimEnd()
  const guard = {
    open: shown.slice(middle.length, start),
    close: behind.slice(0, behind.length - sharedEnd(behind, close.trimEnd())),
  }
  return guard.open === '' || guard.close === '' ? null : guard
}

function itemNameIn(shown: string | null, { open, middle, close }: Strings): string | null {
  const start = shown?.indexOf('Vinaqx') ?? -1
  if (shown === null || start === -1 || !close.includes(nameSlot)) return null
  const before = shown.slice(0, start).trimStart()
  const lead = middle.trimStart() + open.trim()
  if (!before.startsWith(lead) || !before.endsWith(middle)) return null
  const name = before.slice(lead.length, before.length - middle.length)
  return /^[\w-]+$/u.test(name) ? name : null
}
