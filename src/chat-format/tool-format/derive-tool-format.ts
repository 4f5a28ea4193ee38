import { splitBetween } from './compare-texts.ts'
import { findJsonCall, mergePieces } from './derive-json-call.ts'
import { findTaggedCall, solveTags } from './derive-tagged-call.ts'
import { deriveHistory } from './derive-history.ts'
import { deriveBareKeys } from '../known/bare-keys.ts'
import { channelsFormat, isChannels } from '../known/channels.ts'
import { isPythonic, pythonicFormat } from '../known/pythonic.ts'
import { callTurn, sentinelCalls, tryRender, user, type ProbeCall } from './probes.ts'
import type { ArgumentsForm, IdShape, RenderProbe, ToolFormat } from './tool-format.ts'
import { cutCallRegion, findTurnFrame, type TurnFrame } from './turn-frame.ts'
import { roundTrips } from './verify-format.ts'

/** What the calls themselves show; how history must be passed is found out afterwards. */
type Layout = Omit<ToolFormat, 'history'>

/** The shapes that templates are known to insist on, the commonest first; a number is the length of letters and digits. */
const idShapes: readonly IdShape[] = [
  { kind: 'any' },
  { kind: 'alphanumeric', length: 9 },
  { kind: 'name-and-index' },
  ...[8, 10, 12, 16, 24, 32].map((length) => ({ kind: 'alphanumeric', length }) as const),
]

/**
 * Finds out how a template writes tool calls, by rendering some and comparing.
 *
 * Every format is tried before it is given out: calls rendered with it are
 * parsed again. Null where the template drops, refuses or garbles calls.
 */
export function deriveToolFormat(render: RenderProbe): ToolFormat | null {
  const prompt = tryRender(render, [user])
  if (prompt === null) return null
  if (isChannels(prompt)) return verified(render, channelsFormat)
  const bareKeys = deriveBareKeys(render)
  if (bareKeys !== null) return verified(render, bareKeys)
  const frame = findTurnFrame(render)
  if (frame === null) return null
  for (const ids of idShapes) {
    for (const form of ['object', 'text'] as const) {
      const layout = deriveLayout(render, { frame, ids, form })
      const format = layout === null ? null : chooseHistory(render, layout, { ids, form })
      if (format !== null) return format
    }
  }
  return isPythonic(prompt) ? verified(render, pythonicFormat) : null
}

function verified(render: RenderProbe, format: ToolFormat): ToolFormat | null {
  return roundTrips(render, format) ? format : null
}

type Attempt = { readonly ids: IdShape; readonly form: 'object' | 'text' }

function chooseHistory(render: RenderProbe, layout: Layout, { ids, form }: Attempt): ToolFormat | null {
  const forms: readonly ArgumentsForm[] = form === 'text' ? ['text'] : ['object', 'scalars-as-text']
  const history = deriveHistory(render, ids, layout.callsMax)
  for (const argumentsAs of forms) {
    const format = { ...layout, history: { ...history, argumentsAs } }
    if (roundTrips(render, format)) return format
  }
  return null
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

function deriveLayout(render: RenderProbe, { frame, ids, form }: Attempt & { frame: TurnFrame }): Layout | null {
  const calls = sentinelCalls(ids)
  const cut = (given: readonly ProbeCall[]) => {
    const rendered = tryRender(render, [user, callTurn(given, form)])
    return rendered === null ? null : cutCallRegion(frame, rendered)
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
  return deriveJsonLayout(regions) ?? deriveTaggedLayout(regions)
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

function deriveTaggedLayout({ one, two, empty, endsTurn, calls }: Regions): Layout | null {
  const found = findTaggedCall(one, 0, calls[0])
  const nameStart = empty?.indexOf(calls[0].name) ?? -1
  if (found === null || empty === null || nameStart === -1) return null
  const tags = solveTags(found, one.slice(found.end), empty.slice(nameStart + calls[0].name.length))
  if (tags === null) return null
  const { nameEnd, parameter, callClose } = tags
  const first = findTaggedCall(two ?? '', 0, calls[0])
  const second = first === null ? null : findTaggedCall(two ?? '', first.end, calls[1])
  const isSingle = first === null || second === null
  const between = isSingle ? null : (two ?? '').slice(first.end + parameter.close.length, second.start)
  const frame = cutFrame(one.slice(0, found.start), callClose, between)
  // Without an end of its own, a call and its last value would be over in different places.
  if (frame === null || frame.call.close.trim() === '') return null
  return { ...frame.layout, notation: { kind: 'tagged', ...frame.call, nameEnd, parameter }, endsTurn }
}

/** Tells the section's markers from those of a call, by what stands between two calls. */
function cutFrame(before: string, after: string, between: string | null) {
  const { open, close, separator } =
    between === null ? { open: before, close: after, separator: '' } : splitBetween(between, after, before)
  if (!before.endsWith(open) || !after.startsWith(close)) return null
  const section = { open: before.slice(0, before.length - open.length), close: after.slice(close.length) }
  return { call: { open, close }, layout: { section, separator, callsMax: between === null ? (1 as const) : null } }
}
