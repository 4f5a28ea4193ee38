import { pythonicLayout } from '../known/pythonic-calls.ts'
import { sharedEnd, splitBetween } from './compare-texts.ts'
import { findJsonCall, findTaggedCall, mergePieces, solveTags } from './find-calls.ts'
import { callTurn, type ProbeCall, sentinelCalls, sentinels, tryRender, user } from './probes.ts'
import {
  type Enclosure,
  type IdShape,
  indexSlot,
  type JsonType,
  nameSlot,
  type RenderProbe,
  type TaggedParameter,
  type ToolFormat,
  type ValueFrame,
} from './tool-format.ts'
import type { CallRegion } from './turn-frame.ts'
import { jsonType, spacedJson } from './write-calls.ts'

/** What the calls themselves show; how history must be passed is found out afterwards. */
export type Layout = Pick<ToolFormat, 'notation' | 'section' | 'separator' | 'callsMax' | 'endsTurn'>

export type Attempt = {
  readonly ids: IdShape
  readonly form: 'object' | 'text'
  /** The part of a rendered conversation that the model would have written. */
  cut(rendered: string): CallRegion | null
}

type Regions = {
  readonly one: string
  /** A turn with two calls, where the template takes one. */
  readonly two: string | null
  /** The first call's name with no arguments. */
  readonly empty: string | null
  readonly endsTurn: boolean
  readonly calls: readonly [ProbeCall, ProbeCall]
}

/** Finds out how calls are written, by rendering some and comparing; null where nothing fits. */
export function deriveLayout(render: RenderProbe, attempt: Attempt): Layout | null {
  const calls = sentinelCalls(attempt.ids)
  const cut = (given: readonly ProbeCall[]) => {
    const rendered = tryRender(render, [user, callTurn(given, attempt.form)])
    return rendered === null ? null : attempt.cut(rendered)
  }
  const one = cut(calls.slice(0, 1))
  if (one === null) return null
  const regions: Regions = {
    one: one.text,
    two: cut(calls)?.text ?? null,
    empty: cut([{ ...calls[0], arguments: {} }])?.text ?? null,
    endsTurn: one.endsTurn,
    calls,
  }
  return deriveJsonLayout(regions) ?? deriveTaggedLayout(regions, (given) => cut([given])?.text ?? null)
}

function deriveJsonLayout({ one, two, endsTurn, calls }: Regions): Layout | null {
  const found = findJsonCall(one, 0, calls[0])
  if (found === null) return null
  const first = findJsonCall(two ?? '', 0, calls[0])
  const second = first === null ? null : findJsonCall(two ?? '', first.end, calls[1])
  const isSingle = first === null || second === null
  const pieces = isSingle ? found.pieces : mergePieces(first.pieces, second.pieces)
  const between = isSingle ? null : (two ?? '').slice(first.end, second.start)
  const frame = cutFrame(one.slice(0, found.start), one.slice(found.end), between)
  if (pieces === null || frame === null) return null
  const shape = found.keys === null ? ({ kind: 'marked' } as const) : ({ kind: 'envelope', ...found.keys } as const)
  return { ...frame.layout, notation: { ...shape, ...frame.call, pieces }, endsTurn }
}

function deriveTaggedLayout(
  { one, two, empty, endsTurn, calls }: Regions,
  show: (call: ProbeCall) => string | null,
): Layout | null {
  const found = findTaggedCall(one, 0, calls[0])
  const nameStart = empty?.indexOf(calls[0].name) ?? -1
  if (found === null || empty === null || nameStart === -1) return null
  const tags = solveTags(found, one.slice(found.end), empty.slice(nameStart + calls[0].name.length))
  if (tags === null) return null
  const { parameter, callClose } = tags
  const nameEnd = withIndex(tags.nameEnd, found.nameToKey, secondCall(two ?? '', calls)?.nameToKey)
  const between = textBetween(two ?? '', calls, one.length - found.end - callClose.length)
  const frame = cutFrame(one.slice(0, found.start), callClose, between)
  // Without an end of its own, a call and its last value would be over in different places.
  if (frame === null || frame.call.close.trim() === '') return null
  if (nameEnd.trim() === '(' && parameter.open.trim() === '') return deriveListedLayout(frame, endsTurn)
  const behind = callClose.trim()
  const frames = findValueFrames(parameter, calls[0], (given) => {
    const shown = show(given)?.trimEnd() ?? ''
    return shown.endsWith(behind) ? shown.slice(0, shown.length - behind.length) : null
  })
  return {
    ...frame.layout,
    notation: { kind: 'tagged', ...frame.call, nameEnd, parameter: { ...parameter, ...frames } },
    endsTurn,
  }
}

function secondCall(two: string, calls: Regions['calls']) {
  const first = findTaggedCall(two, 0, calls[0])
  return first === null ? null : findTaggedCall(two, first.end, calls[1])
}

/** What follows the name, with a slot in place of the one number in it that is another in the second call. */
function withIndex(nameEnd: string, one: string, two: string | undefined): string {
  const [first, second] = [one, two ?? one].map((text) => text.split(/(\d+)/u))
  if (first === undefined || second === undefined || first.length !== second.length) return nameEnd
  const differing = first.flatMap((part, index) => (part === second[index] ? [] : [index]))
  const [at] = differing
  if (at === undefined || differing.length > 1 || at % 2 === 0) return nameEnd
  const before = first.slice(0, at).join('')
  const end = before.length + (first[at] ?? '').length
  return end > nameEnd.length ? nameEnd : before + indexSlot + nameEnd.slice(end)
}

/** What stands between two calls; null where a turn has one only. `closeLength` is that of what closes a value. */
function textBetween(two: string, calls: Regions['calls'], closeLength: number): string | null {
  const first = findTaggedCall(two, 0, calls[0])
  const second = secondCall(two, calls)
  return first === null || second === null ? null : two.slice(first.end + closeLength, second.start)
}

/** Values are written as in a program, and so read: with quotes, escapes and words of their own. */
function deriveListedLayout(
  { call, layout }: NonNullable<ReturnType<typeof cutFrame>>,
  endsTurn: boolean,
): Layout | null {
  const bracket = layout.section.open + call.open
  // Nothing but a bracket begins many a text that is no call.
  if (!/\p{L}/u.test(bracket) || !call.close.startsWith(')')) return null
  const section = { open: bracket, close: call.close.slice(1) + layout.section.close }
  return pythonicLayout({ section, separator: layout.separator, endsTurn })
}

/** Tells the section's markers from those of a call, by what stands between two calls. */
function cutFrame(before: string, after: string, between: string | null) {
  const { open, close, separator } =
    between === null ? { open: before, close: after, separator: '' } : splitBetween(between, after, before)
  if (!before.endsWith(open) || !after.startsWith(close)) return null
  const section = { open: before.slice(0, before.length - open.length), close: after.slice(close.length) }
  return { call: { open, close }, layout: { section, separator, callsMax: between === null ? (1 as const) : null } }
}

/** Values that no template writes by itself, one of each type but text. */
const values: readonly unknown[] = [73_519, 73.519, true, null, ['Vinaqx'], { kyinqx: 'Vinaqx' }]

/** Holds what templates look for that put a guard around texts. */
const hostile = 'Vigaqx <b> & "c"\nVigeqx'

type Strings = ValueFrame & { readonly open: string; readonly separator: string }

/**
 * Finds what stands around values that are no plain text. `show` gives what is written of a call
 * before its end, or null.
 */
function findValueFrames(
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
