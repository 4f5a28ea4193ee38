import type { WireFormat } from '../../lib/wire.ts'
import { faultOfMore, moreFields, type MoreSettings } from './more-settings.ts'

/** A call of a tool as a model makes it; its arguments are JSON as text. */
export type Call = { readonly id: string; readonly name: string; readonly arguments: string }

/** What a tool gave back, or that it failed. */
export type Result = { readonly id: string; readonly text: string; readonly isError: boolean }

export type Turn =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly kind: 'results'; readonly results: readonly Result[] }

export type Settings = {
  readonly format: WireFormat
  readonly model: string
  readonly system: string
  readonly outputTokensMax: string
  readonly temperature: string
  readonly thinking: 'default' | 'on' | 'off'
  /** A list of `{name, description, parameters}` as JSON; empty for none. */
  readonly tools: string
  /** A JSON Schema that the answer has to keep; empty for none. */
  readonly schema: string
  readonly more: MoreSettings
}

type Tool = { readonly name: string; readonly description?: string; readonly parameters: unknown }

/** Says what of the settings cannot be sent; null where all of them can. */
export function faultOf({ tools, schema, outputTokensMax, temperature, more }: Settings): string | null {
  if (!/^[1-9]\d{0,6}$/.test(outputTokensMax)) return 'The most output tokens are a whole number.'
  if (temperature !== '' && !(Number(temperature) >= 0 && Number(temperature) <= 2))
    return 'The temperature is a number from 0 to 2, or empty.'
  return faultOfTools(tools) ?? faultOfSchema(schema) ?? faultOfMore(more)
}

export function faultOfTools(tools: string): string | null {
  if (tools.trim() === '') return null
  const given = parse(tools)
  if (!Array.isArray(given)) return 'The tools are a JSON list of {name, description, parameters}.'
  const wrong = given.findIndex((tool) => !isObject(tool) || typeof tool['name'] !== 'string')
  return wrong === -1 ? null : `Tool ${wrong + 1} is no JSON object with a name: {name, description, parameters}.`
}

export function faultOfSchema(schema: string): string | null {
  return schema.trim() === '' || isObject(parse(schema)) ? null : 'The schema is no JSON object.'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The request exactly as a client of the format would send it. */
export function toBody(settings: Settings, turns: readonly Turn[]): Readonly<Record<string, unknown>> {
  const { model, outputTokensMax, temperature, thinking, format, tools, more } = settings
  const given = tools.trim() === '' ? [] : (parse(tools) as readonly Tool[])
  const shared = {
    model,
    max_tokens: Number(outputTokensMax),
    stream: true,
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(thinking === 'on' && {
      thinking: { type: 'enabled', budget_tokens: Math.max(1_024, Math.floor(Number(outputTokensMax) / 2)) },
    }),
    ...(thinking === 'off' && { thinking: { type: 'disabled' } }),
    ...moreFields(format, more, given.length > 0),
  }
  return format === 'messages'
    ? { ...shared, ...messagesPart(settings, turns, given) }
    : { ...shared, ...chatPart(settings, turns, given) }
}

function chatPart({ system, schema }: Settings, turns: readonly Turn[], tools: readonly Tool[]) {
  const format =
    schema.trim() === '' ? null : { type: 'json_schema', json_schema: { name: 'answer', schema: parse(schema) } }
  return {
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(toChatMessages)],
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(format !== null && { response_format: format }),
  }
}

function toChatMessages(turn: Turn): readonly unknown[] {
  switch (turn.kind) {
    case 'user':
      return [{ role: 'user', content: turn.text }]
    case 'assistant': {
      const calls = turn.calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: given },
      }))
      return [
        {
          role: 'assistant',
          content: turn.text === '' ? null : turn.text,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      ]
    }
    case 'results':
      return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
  }
}

function messagesPart({ system, schema }: Settings, turns: readonly Turn[], tools: readonly Tool[]) {
  return {
    ...(schema.trim() !== '' && { output_config: { format: { type: 'json_schema', schema: parse(schema) } } }),
    messages: turns.map(toMessage),
    ...(system !== '' && { system }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    }),
  }
}

function toMessage(turn: Turn): unknown {
  switch (turn.kind) {
    case 'user':
      return { role: 'user', content: turn.text }
    case 'assistant': {
      const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
      const calls = turn.calls.map(({ id, name, arguments: given }) => ({
        type: 'tool_use',
        id,
        name,
        input: parse(given) ?? {},
      }))
      return { role: 'assistant', content: [...text, ...calls] }
    }
    case 'results':
      return {
        role: 'user',
        content: turn.results.map(({ id, text, isError }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
          ...(isError && { is_error: true }),
        })),
      }
  }
}
