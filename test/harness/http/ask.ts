import type { Service } from '../start-service.ts'

export type Format = 'chat' | 'messages'

export const formats: readonly Format[] = ['chat', 'messages']

export const paths: Readonly<Record<Format, string>> = { chat: '/v1/chat/completions', messages: '/v1/messages' }

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; throws when it is none. */
  json(): Record<string, unknown>
}

export type Asking = {
  readonly method?: string
  /** An object is sent as JSON, anything else as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Null sends none. */
  readonly key?: string | null
}

/** One request and its whole answer. With a body it is a POST. */
export async function ask(service: Service, path: string, asking: Asking = {}): Promise<Answer> {
  const { body, headers = {}, key = service.key, method = body === undefined ? 'GET' : 'POST' } = asking
  const response = await fetch(`${service.address}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    ...(body !== undefined && { body: toBody(body), duplex: 'half' }),
  })
  const text = await response.text()
  const { status, headers: answered } = response
  return { status, headers: answered, text, json: () => JSON.parse(text) as Record<string, unknown> }
}

function toBody(body: unknown): NonNullable<RequestInit['body']> {
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream) return body as string
  return JSON.stringify(body)
}

/** The least request of each format that is answered, with fields of your own. */
export function bodyFor(format: Format, fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const required = format === 'chat' ? {} : { max_tokens: 1_000 }
  return { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }], ...required, ...fields }
}

/** A request whose answer takes a minute at least: its schema asks for thirty thousand characters. */
export function longAnswerBody(format: Format): Record<string, unknown> {
  const schema = { type: 'array', items: { type: 'string', minLength: 30 }, minItems: 1_000 }
  const fields = {
    chat: { response_format: { type: 'json_schema', json_schema: { name: 'texts', schema } } },
    messages: { output_config: { format: { type: 'json_schema', schema } }, max_tokens: 30_000 },
  }
  return bodyFor(format, fields[format])
}

let longPrompts = 0

/**
 * A prompt of so many tokens that computing it takes a while; about as many as there are words.
 *
 * Each begins differently: one that was asked before would be there at once.
 */
export function longMessages(words: number): { readonly role: 'user'; readonly content: string }[] {
  longPrompts += 1
  return [{ role: 'user', content: `${longPrompts} ${'hello '.repeat(words)}` }]
}
