// Calls as an object with bare keys and quotes of its own: `call:name{key:<|"|>value<|"|>,other:true}`.
// Such a template sorts the keys and loses nulls, but prints arguments that are
// given as text unchanged; so they are written here.

import type { OutputSource, Reading } from '../tool-format/parsing/tool-call-part.ts'
import type { RenderProbe, TextPlace, ToolFormat } from '../tool-format/tool-format.ts'
import { readListedCalls } from './listed-calls.ts'
import { callTurn, sentinelCalls, sentinels, tryRender, user } from '../tool-format/probes.ts'

const quote = '<|"|>'
const call = { open: '<|tool_call>call:', close: '<tool_call|>' }

/** Null where the template is not of this kind. */
export function deriveBareKeys(render: RenderProbe): ToolFormat | null {
  const [probe] = sentinelCalls({ kind: 'any' })
  const rendered = tryRender(render, [user, callTurn([probe], 'text', sentinels.text)])
  const start = rendered?.indexOf(`${call.open}${probe.name}{${JSON.stringify(probe.arguments)}}${call.close}`) ?? -1
  if (rendered === null || start === -1) return null
  const text = rendered.lastIndexOf(sentinels.text)
  const textBesideCalls: TextPlace = text === -1 ? 'own' : text < start ? 'before' : 'after'
  return {
    notation: { kind: 'bare-keys' },
    section: call,
    separator: '',
    callsMax: null,
    history: {
      argumentsAs: 'own-notation',
      takesTextArguments: false,
      ids: { kind: 'any' },
      textBesideCalls,
      toolMessages: 'several',
    },
    endsTurn: false,
  }
}

export function readBareKeys(source: OutputSource): Reading {
  const quotes = [
    { mark: quote, escapes: false },
    { mark: '"', escapes: true },
  ]
  return readListedCalls(source, {
    open: call.open,
    bracket: '{',
    members: { dialect: { quotes }, close: '}', assign: ':' },
    separator: call.open,
    completedBy: call.close,
    // The model asks for the results with a marker of its own.
    closings: [call.close, '<|tool_response>'],
  })
}

/** The inside of the arguments' braces, which the template writes itself. */
export function writeBareKeys(value: object): string {
  return Object.entries(value)
    .map(([key, member]) => `${key}:${writeValue(member)}`)
    .join(',')
}

function writeValue(value: unknown): string {
  if (typeof value === 'string') return quote + value + quote
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  if (typeof value === 'object' && value !== null) return `{${writeBareKeys(value)}}`
  return JSON.stringify(value) ?? 'null'
}
