import type { IdShape, RenderProbe, TemplateToolCall, TemplateToolMessage } from './tool-format.ts'

/** Texts that no template writes by itself and that share no characters at their edges with markup. */
export const sentinels = {
  user: 'Zuqwiser',
  text: 'Zotexqwi',
  thinking: 'Zithoqwink',
  results: ['Zaresqwone', 'Zeresqwtwo'],
  names: ['wovqalpha', 'wovqbeta'],
  keys: ['kyzaqw', 'kyzeqw'],
  values: ['Vozaqone', 'Vozeqtwo', 'Vozoqthree', 'Vozuqfour'],
} as const

export const user: TemplateToolMessage = { role: 'user', content: sentinels.user }

export type ProbeCall = {
  readonly name: string
  readonly id: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** One tool list for every probe: another one would change the prompt that turns are cut out of. */
export const probeTools: readonly object[] = sentinels.names.map((name) => {
  const properties = Object.fromEntries([
    ...sentinels.keys.map((key) => [key, { type: 'string', description: 'probe' }] as const),
    // Lists and nulls stay undeclared: there are templates that fail on a tool that mentions them.
    ...['integer', 'number', 'boolean', 'object'].map((type) => [`ky${type}`, { type, description: 'probe' }] as const),
  ])
  const parameters = { type: 'object', properties, required: [] }
  return { type: 'function', function: { name, description: 'probe', parameters } }
})

/** Two calls with two arguments each, every text different from every other. */
export function sentinelCalls(ids: IdShape): readonly [ProbeCall, ProbeCall] {
  const [one, two] = sentinels.names
  const [first, second] = sentinels.keys
  const [a, b, c, d] = sentinels.values
  return [
    { name: one, id: probeId(ids, one, 0), arguments: { [first]: a, [second]: b } },
    { name: two, id: probeId(ids, two, 1), arguments: { [first]: c, [second]: d } },
  ]
}

export function probeId(shape: IdShape, name: string, index: number): string {
  switch (shape.kind) {
    case 'any':
      return `call_Qz${index}xWvid${index}Kp`
    case 'alphanumeric':
      return `Q${index}zxWv${index}dKpTmRsYbNcJhGfDqLwXtHkPvZ`.slice(0, shape.length)
    case 'name-and-index':
      return `functions.${name}:${index}`
  }
}

export function callTurn(calls: readonly ProbeCall[], form: 'object' | 'text', content = ''): TemplateToolMessage {
  const written = calls.map((call): TemplateToolCall => ({
    id: call.id,
    type: 'function',
    function: {
      name: call.name,
      arguments: form === 'object' ? call.arguments : JSON.stringify(call.arguments),
    },
  }))
  return { role: 'assistant', content, tool_calls: written }
}

export type ProbeOptions = Partial<Parameters<RenderProbe>[1]>

/** Null where the template refuses. */
export function tryRender(
  render: RenderProbe,
  messages: readonly TemplateToolMessage[],
  options: ProbeOptions = {},
): string | null {
  try {
    return render(messages, { tools: probeTools, addGenerationPrompt: false, enableThinking: null, ...options })
  } catch {
    return null
  }
}
