import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema, Tool } from '../../core/generation.ts'
import { createToolCallParser } from './parse-tool-calls.ts'
import { probeTools, probeId, sentinels, tryRender, user, type ProbeCall } from './probes.ts'
import { toTemplateCalls } from './to-template-calls.ts'
import type { RenderProbe, TemplateToolMessage, ToolFormat } from './tool-format.ts'
import type { TurnCutter } from './turn-frame.ts'

/** Arguments that a notation which garbles anything would garble. */
const probes: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { [sentinels.keys[0]]: 'say "no"\\n to\n{a: [b]} <b>é😀</b>', [sentinels.keys[1]]: '' },
  {
    kyinteger: 7,
    kynumber: -1.5,
    kyboolean: true,
    kynull: null,
    kyarray: [1, 'two', null],
    kyobject: { a: { b: [false] } },
  },
]

/** What a notation would take for the end of a call or a value is sound where values are quoted. */
const quoting = { [sentinels.keys[0]]: 'a </x> <b> [C] </function> d', [sentinels.keys[1]]: '}]}' }

/** Whether turns that are rendered in this format come out of the parser as they went in. */
export function roundTrips(render: RenderProbe, cutter: TurnCutter, format: ToolFormat): boolean {
  const [one, two]: readonly string[] = sentinels.names
  const sets = [...probes, quoting].map((given) => [{ name: one ?? '', given }])
  if (format.callsMax === null)
    sets.push(probes.map((given, index) => ({ name: (index === 1 ? two : one) ?? '', given })))
  const texts = format.history.textBesideCalls === 'before' ? ['', sentinels.text] : ['']
  const turns = sets.flatMap((set) => {
    const calls = set.map(({ name, given }, index): ProbeCall => {
      return { name, id: probeId(format.history.ids, name, index), arguments: given }
    })
    return texts.map((text) => ({ text, calls }))
  })
  return (
    [{ text: sentinels.text, calls: [] }, ...turns].every((turn) => keepsTurn(render, cutter, { format, turn })) &&
    keepsHistory(render, format)
  )
}

type Turn = { readonly text: string; readonly calls: readonly ProbeCall[] }
type Case = { readonly format: ToolFormat; readonly turn: Turn }

function keepsTurn(render: RenderProbe, cutter: TurnCutter, { format, turn: { text, calls } }: Case): boolean {
  const rendered = tryRender(render, [user, ...toTemplateCalls(format, [writeTurn(text, calls)])])
  const output = rendered === null ? null : cutter.cutOutput(rendered)
  const read = output === null ? null : readOutput(format, output)
  return read !== null && read.text.trim() === text && isDeepStrictEqual(read.calls, calls.map(withoutId))
}

/** Whether a conversation with a call, its result and an answer renders with all of them. */
export function keepsHistory(render: RenderProbe, format: ToolFormat): boolean {
  const [name] = sentinels.names
  const call: ProbeCall = {
    name,
    id: probeId(format.history.ids, name, 0),
    arguments: { [sentinels.keys[0]]: 'Vozaqone' },
  }
  const [result] = sentinels.results
  const messages: readonly TemplateToolMessage[] = [
    user,
    writeTurn('', [call]),
    { role: 'tool', content: result, tool_call_id: call.id, name },
    { role: 'assistant', content: sentinels.text },
    user,
  ]
  const shown = tryRender(render, toTemplateCalls(format, messages), { addGenerationPrompt: true })
  const open = tryRender(render, toTemplateCalls(format, messages.slice(0, 3)), { addGenerationPrompt: true })
  if (shown === null || open === null || !open.includes(result)) return false
  const places = ['Vozaqone', result, sentinels.text].map((text) => shown.lastIndexOf(text))
  return places.every((place, index) => place !== -1 && (index === 0 || place > (places[index - 1] ?? 0)))
}

function writeTurn(text: string, calls: readonly ProbeCall[]): TemplateToolMessage {
  if (calls.length === 0) return { role: 'assistant', content: text }
  const written = calls.map(({ id, name, arguments: given }) => {
    return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } } as const
  })
  return { role: 'assistant', content: text, tool_calls: written }
}

function withoutId({ name, arguments: given }: ProbeCall) {
  return { name, arguments: given, isClosed: true }
}

type ReadCall = { readonly name: string; arguments: unknown; isClosed: boolean }

/** What an output holds; null where it is garbled. */
function readOutput(format: ToolFormat, output: string): { readonly text: string; readonly calls: ReadCall[] } | null {
  const parser = createToolCallParser(format, tools)
  const calls: (ReadCall & { json: string })[] = []
  let text = ''
  for (const part of [...parser.feed(output), ...parser.end()]) {
    const call = calls.at(-1)
    if (part.kind === 'stray' || part.kind === 'thinking') return null
    if (part.kind === 'text') text += part.text
    else if (part.kind === 'call-start') calls.push({ name: part.name, arguments: null, isClosed: false, json: '' })
    else if (call !== undefined && part.kind === 'arguments') call.json += part.text
    else if (call !== undefined) call.isClosed = true
  }
  try {
    const read = calls.map(({ name, isClosed, json }) => ({ name, arguments: JSON.parse(json) as unknown, isClosed }))
    return { text, calls: read }
  } catch {
    return null
  }
}

const tools: readonly Tool[] = probeTools.map((tool) => {
  const { function: described } = tool as {
    readonly function: { readonly name: string; readonly parameters: JsonSchema }
  }
  return {
    name: described.name,
    description: '',
    parameters: described.parameters,
    isStrict: false,
    schemaPath: [],
    input: 'json',
  }
})
