// Large bodies are decoded in a thread of their own, and nobody can tell by what comes of them.

import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { EngineRequest } from '../../../src/core/generation.ts'
import { checkErrorResponse } from '../../campaigns/bodies/error-bodies.ts'
import { authorize, exchange } from '../../campaigns/raw-http.ts'
import { bodyFor } from '../../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'

let service: FakeService
let asked: EngineRequest[] = []

before(async () => {
  service = await startFakeService({
    features: new Set(['tools']),
    script(request) {
      asked.push(request)
      return [{ kind: 'end', reason: { kind: 'end' } }]
    },
  })
})
after(() => service.close())

const paths = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const
const formats = ['chat', 'messages'] as const

function send(path: string, body: string | Buffer) {
  return exchange(service.address, { path, headers: authorize(service.key), body })
}

const turns = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${text}`,
  }))
const tool = (properties: object) => ({
  chat: { type: 'function', function: { name: 'look', parameters: { type: 'object', properties } } },
  messages: { name: 'look', input_schema: { type: 'object', properties } },
})
const properties = Object.fromEntries(
  Array.from({ length: 900 }, (_, index) => [`p${index}`, { type: 'string', enum: ['a', 'é', '€'] }]),
)

/** Each once as it is, and once with so many blanks behind it that a thread decodes it. */
const alike: readonly [name: string, fields: (format: (typeof formats)[number]) => object][] = [
  ['a long text', () => ({ messages: [{ role: 'user', content: 'wörd € 😀 '.repeat(9_000) }] })],
  ['many turns', () => ({ messages: turns(601, 'word') })],
  ['a large tool', (format) => ({ tools: [tool(properties)[format]] })],
  ['half a character', () => ({ messages: [{ role: 'user', content: 'a\ud800b' }] })],
]

for (const format of formats) {
  describe(paths[format], () => {
    for (const [name, fields] of alike) {
      test(`${name} is the same request, however large its body is`, async () => {
        asked = []
        const body = JSON.stringify(bodyFor(format, fields(format) as Record<string, unknown>))
        equal((await send(paths[format], body)).status, 200)
        equal((await send(paths[format], body + ' '.repeat(3_000_000))).status, 200)
        const [small, large] = asked.map(({ requestId: _id, bytes: _bytes, ...request }) => request)
        deepEqual(large, small)
      })
    }

    const wrong: readonly [name: string, body: string | Buffer, said: RegExp][] = [
      ['what is no JSON', `${JSON.stringify(bodyFor(format, { messages: turns(3, 'x'.repeat(200_000)) }))}x`, /JSON/i],
      ['what is nested too deeply', `{"a":${'['.repeat(200)}${' '.repeat(300_000)}`, /nested|JSON/i],
      ['what has too many elements', `[${'1,'.repeat(300_000)}1]`, /elements|JSON/i],
      ['what is no UTF-8', Buffer.alloc(300_000, 0xff), /UTF-8|JSON/i],
      [
        'a field that is wrong',
        JSON.stringify(bodyFor(format, { messages: turns(3, 'x'.repeat(200_000)), max_tokens: 'many' })),
        /max_tokens/,
      ],
    ]
    for (const [name, body, said] of wrong) {
      test(`${name} is refused like in a small body`, async () => {
        const response = await send(paths[format], body)
        equal(response.status, 400)
        checkErrorResponse(response, format)
        match(response.text, said)
      })
    }
  })
}

test('many large bodies at once are each answered', async () => {
  asked = []
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const body = JSON.stringify(
        bodyFor('messages', { messages: turns(401, String(index).repeat(500 * (index + 1))) }),
      )
      return (await send(paths.messages, body)).status
    }),
  )
  deepEqual(new Set(statuses), new Set([200]))
  equal(new Set(asked.map(({ messages }) => JSON.stringify(messages[0]))).size, 12)
})

test('a large body has a thread, a small one has none, and a thread without work ends', async () => {
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  // Whatever thread the bodies before had.
  service.clock.advance(30_000)
  try {
    equal((await send(paths.messages, JSON.stringify(bodyFor('messages', { messages: turns(3, 'x') })))).status, 200)
    equal(threads.length, 0)
    const body = JSON.stringify(bodyFor('messages', { messages: turns(3, 'x'.repeat(200_000)) }))
    for (let round = 1; round <= 2; round += 1) {
      equal((await send(paths.messages, body)).status, 200)
      equal(threads.length, round)
      const ended = once(threads[round - 1]!, 'exit')
      service.clock.advance(30_000)
      await ended
    }
  } finally {
    process.off('worker', note)
  }
})
