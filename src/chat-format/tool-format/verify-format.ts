import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema, Tool } from '../../core/generation.ts'
import { createToolCallParser } from './parse-tool-calls.ts'
import { probeTools, probeId, sentinels, tryRender, user, type ProbeCall } from './probes.ts'
import { toTemplateCalls } from './to-template-calls.ts'
import type { RenderProbe, TemplateToolMessage, ToolFormat } from './tool-format.ts'
import { cutCallRegion, findTurnFrame } from './turn-frame.ts'

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

/** Whether calls that are rendered in this format come out of the parser as they went in. */
export function roundTrips(render: RenderProbe, format: ToolFormat): boolean {
  const [one, two]: readonly string[] = sentinels.names
  const sets = probes.map((given) => [{ name: one ?? '', given }])
  if (format.callsMax === null)
    sets.push(probes.map((given, index) => ({ name: (index === 1 ? two : one) ?? '', given })))
  const frame = findTurnFrame(render)
  return sets.every((set) => {
    const calls = set.map(({ name, given }, index): ProbeCall => {
      return { name, id: probeId(format.history.ids, name, index), arguments: given }
    })
    const rendered = tryRender(render, [user, ...toTemplateCalls(format, [writeTurn(calls)])])
    const region = rendered === null || frame === null ? null : cutCallRegion(frame, rendered)
    return region !== null && isDeepStrictEqual(readCalls(format, region.text), calls.map(withoutId))
  })
}

function writeTurn(calls: readonly ProbeCall[]): TemplateToolMessage {
  const written = calls.map(({ id, name, arguments: given }) => {
    return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } } as const
  })
  return { role: 'assistant', content: '', tool_calls: written }
}

function withoutId({ name, arguments: given }: ProbeCall) {
  return { name, arguments: given, isClosed: true }
}

type ReadCall = { readonly name: string; arguments: unknown; isClosed: boolean }

/** The calls in an output, or null where there is anything else or arguments that are no JSON. */
function readCalls(format: ToolFormat, output: string): ReadCall[] | null {
  const parser = createToolCallParser(format, tools)
  const calls: (ReadCall & { text: string })[] = []
  for (const part of [...parser.feed(output), ...parser.end()]) {
    if (part.kind === 'text' || part.kind === 'stray' || part.kind === 'thinking') return null
    const call = calls.at(-1)
    if (part.kind === 'call-start') calls.push({ name: part.name, arguments: null, isClosed: false, text: '' })
    else if (call !== undefined && part.kind === 'arguments') call.text += part.text
    else if (call !== undefined) call.isClosed = true
  }
  try {
    return calls.map(({ name, isClosed, text }) => ({ name, arguments: JSON.parse(text) as unknown, isClosed }))
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
