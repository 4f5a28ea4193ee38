// A request in either wire format as the playground has it: the inverse of `toBody`, as far as its fields go.

import type { WireFormat } from '../../lib/wire.ts'
import type { Call, Result, Turn } from './conversation.ts'
import type { PlaygroundSearch } from './search.ts'

export type ReadBody = {
  readonly search: Partial<PlaygroundSearch>
  readonly texts: { readonly system: string; readonly tools: string; readonly schema: string }
  readonly turns: readonly Turn[]
  /** Whether something stands in it that the playground has no place for, as a picture. */
  readonly isPartial: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Null for what is no request. */
export function readBody(format: WireFormat, text: string): ReadBody | null {
  try {
    const body = asFields(JSON.parse(text))
    return body === null ? null : new Reader(format, body).read()
  } catch {
    return null
  }
}

class Reader {
  readonly #format: WireFormat
  readonly #body: Fields
  readonly #turns: Turn[] = []
  readonly #system: string[] = []
  #isPartial = false

  constructor(format: WireFormat, body: Fields) {
    this.#format = format
    this.#body = body
  }

  read(): ReadBody {
    const isMessages = this.#format === 'messages'
    if (isMessages && this.#body['system'] !== undefined) this.#system.push(this.#textOf(this.#body['system']))
    for (const message of listOf(this.#body['messages'])) {
      if (isMessages) this.#readMessage(message)
      else this.#readChatMessage(message)
    }
    const texts = { system: this.#system.join('\n\n'), tools: this.#tools(), schema: this.#schema() }
    return { search: this.#search(), texts, turns: this.#turns, isPartial: this.#isPartial }
  }

  #search(): Partial<PlaygroundSearch> {
    const { model, temperature, thinking, seed, top_p: topP, top_k: topK } = this.#body
    const most = this.#body['max_tokens'] ?? this.#body['max_completion_tokens']
    const kind = asFields(thinking)?.['type']
    return {
      format: this.#format,
      model: String(model) as PlaygroundSearch['model'],
      ...(typeof most === 'number' && { max: String(most) }),
      ...(typeof temperature === 'number' && { temperature: String(temperature) }),
      ...(typeof topP === 'number' && { topP: String(topP) }),
      ...(typeof topK === 'number' && { topK: String(topK) }),
      ...(typeof seed === 'number' && { seed: String(seed) }),
      ...(kind === 'enabled' && { thinking: 'on' as const }),
      ...(kind === 'disabled' && { thinking: 'off' as const }),
    }
  }

  #tools(): string {
    const tools = listOf(this.#body['tools']).flatMap((tool) => {
      const own = this.#format === 'messages' ? tool : asFields(tool['function'])
      if (own === null || typeof own['name'] !== 'string') {
        this.#isPartial = true
        return []
      }
      const { name, description, parameters, input_schema: schema } = own
      return [{ name, ...(description !== undefined && { description }), parameters: parameters ?? schema ?? {} }]
    })
    return tools.length === 0 ? '' : JSON.stringify(tools, null, 2)
  }

  #schema(): string {
    const schema = schemaOf(this.#body)
    return schema === undefined ? '' : JSON.stringify(schema, null, 2)
  }

  #readMessage({ role, content }: Fields): void {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
    const ofType = (wanted: string) => blocks.filter(({ type }) => type === wanted)
    const known = ['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']
    if (blocks.some(({ type }) => !known.includes(String(type)))) this.#isPartial = true
    const results = ofType('tool_result').map((block): Result => {
      const { tool_use_id: id, content: given, is_error: isError } = block
      return { id: String(id), text: this.#textOf(given ?? ''), isError: isError === true }
    })
    const calls = ofType('tool_use').map(({ id, name, input }): Call => {
      return { id: String(id), name: String(name), arguments: JSON.stringify(input ?? {}) }
    })
    this.#add(role, { text: this.#textOf(ofType('text')), calls, results })
  }

  #readChatMessage({ role, content, tool_calls: made, tool_call_id: id }: Fields): void {
    const text = this.#textOf(content ?? '')
    if (role === 'system' || role === 'developer') this.#system.push(text)
    else if (role === 'tool')
      this.#add('user', { text: '', calls: [], results: [{ id: String(id), text, isError: false }] })
    else {
      const calls = listOf(made).map((call): Call => {
        const { name, arguments: given } = asFields(call['function']) ?? {}
        return { id: String(call['id']), name: String(name), arguments: String(given) }
      })
      this.#add(role, { text, calls, results: [] })
    }
  }

  #add(
    role: unknown,
    said: { readonly text: string; readonly calls: readonly Call[]; readonly results: readonly Result[] },
  ): void {
    const { text, calls, results } = said
    if (role === 'assistant') {
      if (text !== '' || calls.length > 0) this.#turns.push({ kind: 'assistant', text, calls })
      return
    }
    const last = this.#turns.at(-1)
    if (results.length > 0 && last?.kind === 'results') {
      this.#turns[this.#turns.length - 1] = { kind: 'results', results: [...last.results, ...results] }
    } else if (results.length > 0) this.#turns.push({ kind: 'results', results })
    if (text !== '') this.#turns.push({ kind: 'user', text })
  }

  /** The text of a text, or of a list of parts. */
  #textOf(content: unknown): string {
    if (typeof content === 'string') return content
    const parts = listOf(content)
    if (parts.some(({ type }) => type !== 'text')) this.#isPartial = true
    return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  }
}

/** The JSON Schema that the answer of a request has to keep; undefined where there is none. */
export function schemaOf(body: unknown): unknown {
  const fields = asFields(body)
  const chat = asFields(asFields(fields?.['response_format'])?.['json_schema'])?.['schema']
  return asFields(asFields(fields?.['output_config'])?.['format'])?.['schema'] ?? chat
}

function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

function listOf(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) return []
  return value.map(asFields).filter((entry) => entry !== null)
}
