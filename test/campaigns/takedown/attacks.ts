import type { Random } from '../random.ts'
import { authorize, toBytes } from '../raw-http.ts'
import { gzipSync } from 'node:zlib'

/** One attempt to take the service from others. */
export type Attack = {
  readonly kind: string
  /** Sent in these parts, with a pause before each but the first. */
  readonly parts: readonly Buffer[]
  readonly pauseMs: number
  /** How long the attacker waits for the answer; it leaves then. */
  readonly staysMs: number
}

export type AttackOptions = {
  readonly key: string
  /** The longest text of one attack, in characters. */
  readonly charactersMax: number
  readonly staysMsMax: number
}

type Make = (random: Random, options: AttackOptions) => Pick<Attack, 'parts'> & Partial<Attack>

const kinds: Readonly<Record<string, Make>> = {
  'a long prompt': (random, { key }) => whole(key, say(`${random.integer(0, 9_999)} ${'word '.repeat(2_000)}`)),
  'one letter': (random, { key, charactersMax }) =>
    whole(
      key,
      place(random, random.pick(['a', ' ', '1', '\n', '漢', '=']).repeat(random.integer(1_000, charactersMax))),
    ),
  base64: (random, { key, charactersMax }) => {
    const bytes = Buffer.from(Array.from({ length: 3_000 }, () => random.integer(0, 255)))
    const text = bytes.toString('base64')
    return whole(
      key,
      place(random, text.repeat(random.integer(1, Math.max(1, Math.floor(charactersMax / text.length))))),
    )
  },
  'many blocks': (random, { key }) => {
    const block = { type: 'text', text: 'word', cache_control: undefined }
    return whole(key, say(Array.from({ length: random.integer(100, 5_000) }, () => block)))
  },
  'control tokens': (random, { key }) => whole(key, history(random.pick(markers))),
  'a slow body': (random, { key }) => {
    const bytes = toBytes(request(key, say('Hello')))
    const cut = bytes.indexOf('\r\n\r\n') + 4 + random.integer(0, 20)
    const parts = [bytes.subarray(0, cut), ...Array.from(bytes.subarray(cut, cut + 20), (byte) => Buffer.of(byte))]
    return { parts, pauseMs: random.integer(50, 400) }
  },
  'a body that never comes': (_random, { key }) => {
    const headers = [...authorize(key), ['content-length', '30000000'], ['expect', '100-continue']] as const
    return { parts: [toBytes({ path: '/v1/messages', headers, body: '' })] }
  },
  'a packed body': (random, { key, charactersMax }) => {
    const body = gzipSync(JSON.stringify(say('a'.repeat(random.integer(1_000, charactersMax)))))
    const headers = [...authorize(key), ['content-encoding', 'gzip']] as const
    return { parts: [toBytes({ path: '/v1/messages', headers, body })] }
  },
  'broken chunks': (random, { key }) => {
    const headers = [...authorize(key), ['transfer-encoding', 'chunked']] as const
    const body = random.pick(['5\r\nhello\r\nzz\r\n', 'ffffffffff\r\n', '-1\r\n\r\n', '5\r\nhelloworld\r\n0\r\n\r\n'])
    return { parts: [toBytes({ path: '/v1/messages', headers, body })] }
  },
  'an idle connection': (random) => ({ parts: [Buffer.from(random.pick(['', 'POST /v1/messages HT']))] }),
  'deep JSON': (random, { key, charactersMax }) => {
    const body = random.pick(['[', '{"a":', '[1,']).repeat(random.integer(1_000, charactersMax / 8))
    return { parts: [toBytes({ path: '/v1/messages', headers: authorize(key), body })] }
  },
  'a large schema': (random, { key }) => whole(key, withSchema(random)),
}

const markers = ['<|im_end|>', '\\u003c|im_end|\\u003e', '<think>', '</tool_call>', '<|im_start|>system']

export const attackKinds = Object.keys(kinds)

export function makeAttack(random: Random, options: AttackOptions, kind = random.pick(attackKinds)): Attack {
  const make = kinds[kind]
  if (make === undefined) throw new Error(`There is no attack ${kind}.`)
  const staysMs = random.chance(0.5) ? random.integer(0, 300) : options.staysMsMax
  return { kind, pauseMs: 0, staysMs, ...make(random, options) }
}

function request(key: string, body: object) {
  const path = 'count' in body ? '/v1/messages/count_tokens' : '/v1/messages'
  const { count: _count, ...rest } = body as Record<string, unknown>
  return { path, headers: authorize(key), body: JSON.stringify(rest) }
}

function whole(key: string, body: object): Pick<Attack, 'parts'> {
  return { parts: [toBytes(request(key, body))] }
}

function say(content: unknown): Record<string, unknown> {
  return { model: 'clarke-1.0', max_tokens: 4, messages: [{ role: 'user', content }] }
}

/** A text in one of the places where a client's text may stand. */
function place(random: Random, text: string): object {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
  const tool = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }
  const { max_tokens: _max, ...countable } = say(text)
  return random.pick<object>([
    say(text),
    { ...countable, count: true },
    { ...say('Hello'), system: text },
    { ...say('Hello'), tools: [{ ...tool, description: text }] },
    {
      ...say(''),
      tools: [tool],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: text }] },
      ],
    },
    {
      ...say(''),
      tools: [tool],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ ...call, input: { at: text } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Seen.' }] },
      ],
    },
  ])
}

function history(marker: string): object {
  const call = { type: 'tool_use', id: 'toolu_1', name: marker, input: { [marker]: marker } }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: marker }
  return {
    ...say(''),
    messages: [
      { role: 'user', content: marker },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ],
  }
}

function withSchema(random: Random): object {
  const values = Array.from({ length: random.integer(10, 800) }, (_, index) => `value ${index}`)
  const properties = Object.fromEntries(values.map((name) => [name, { type: 'string', enum: values.slice(0, 20) }]))
  return { ...say('Call.'), tools: [{ name: 'look', input_schema: { type: 'object', properties } }] }
}
