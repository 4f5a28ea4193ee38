// Both versions of the official client of the messages format, with their helpers, against the engine itself.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { validate } from '../grammar/validate.ts'

/** Both versions have the same surface; the tests are written against the types of the newer one. */
const clients = { 'Anthropic SDK 1': Anthropic, 'Anthropic SDK 0': Anthropic0 as unknown as typeof Anthropic }

const inputSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string', maxLength: 20 }, größe: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'größe'],
  additionalProperties: false,
}
const tools: Anthropic.Tool[] = [
  { name: 'get_weather', description: 'Tells the weather.', input_schema: inputSchema },
  { name: 'noop', input_schema: { type: 'object', properties: {}, additionalProperties: false } },
]
const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is the weather in Köln?' }]
const thinking = { type: 'enabled', budget_tokens: 1_024 } as const
const least = { model: 'hal-1.0', max_tokens: 1_800, messages: hello } as const

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

function callsOf({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use')
}

function checkCall({ id, name, input }: Anthropic.ToolUseBlock): void {
  match(id, /^toolu_[A-Za-z0-9_-]{20,}$/)
  ok(name === 'get_weather' || name === 'noop')
  if (name === 'get_weather') equal(validate(inputSchema, input), null)
  else deepEqual(input, {})
}

for (const [name, Client] of Object.entries(clients)) {
  describe(name, () => {
    const recorded = recordFetch()
    const messages = () =>
      new Client({ baseURL: service.address, fetch: recorded.fetch, apiKey: service.key, maxRetries: 0 }).messages

    afterEach(async () => {
      await recorded.checkStreams()
      recorded.clear()
    })

    for (const choice of [{ type: 'any' }, { type: 'tool', name: 'get_weather' }] as const) {
      test(`${choice.type}: signed thinking, then calls`, async () => {
        const answer = await messages().create({ ...least, thinking, tools, tool_choice: choice })
        equal(answer.stop_reason, 'tool_use')
        const [first, ...rest] = answer.content
        ok(first?.type === 'thinking' && first.thinking !== '' && first.signature !== '')
        ok(rest.length > 0 && rest.every(({ type }) => type === 'tool_use'))
        for (const call of callsOf(answer)) checkCall(call)
        if (choice.type === 'tool') ok(callsOf(answer).every((call) => call.name === 'get_weather'))
      })

      test(`${choice.type}: the stream helper puts the input together`, async () => {
        const pieces: string[] = []
        const stream = messages().stream({ ...least, thinking, tools, tool_choice: choice })
        stream.on('inputJson', (piece) => pieces.push(piece))
        const answer = await stream.finalMessage()
        equal(answer.stop_reason, 'tool_use')
        ok(callsOf(answer).length > 0 && pieces.length > 0)
        for (const call of callsOf(answer)) checkCall(call)
      })
    }

    test('the stream is the answer that comes whole', async () => {
      const fields = { ...least, temperature: 0, tools, tool_choice: { type: 'any' } as const }
      const whole = await messages().create(fields)
      const streamed = await messages().stream(fields).finalMessage()
      const withoutIds = ({ content }: Anthropic.Message) => content.map((block) => ({ ...block, id: null }))
      deepEqual(withoutIds(streamed), withoutIds(whole))
      equal(streamed.usage.output_tokens, whole.usage.output_tokens)
    })

    test('a result is taken, with the thinking before it', async () => {
      const choice = { type: 'any', disable_parallel_tool_use: true } as const
      const asked = await messages().create({ ...least, thinking, tools, tool_choice: choice })
      equal(callsOf(asked).length, 1)
      const results = callsOf(asked).map(
        ({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '18 °C, 🌧' }) as const,
      )
      const turns: Anthropic.MessageParam[] = [
        ...hello,
        { role: 'assistant', content: asked.content },
        { role: 'user', content: results },
      ]
      const answer = await messages().create({ ...least, messages: turns, tools, tool_choice: { type: 'none' } })
      equal(answer.stop_reason, 'end_turn')
      // Small weights may end when they have thought.
      ok(answer.content.every(({ type }) => type === 'text' || type === 'thinking'))
      const failed = results.map((result) => ({ ...result, is_error: true }))
      const retried: Anthropic.MessageParam[] = [...turns.slice(0, 2), { role: 'user', content: failed }]
      const again = await messages().create({ ...least, messages: retried, tools, tool_choice: choice })
      equal(again.stop_reason, 'tool_use')
    })

    test('an answer of a schema is pure JSON after the thinking', async () => {
      const format = { type: 'json_schema', schema: inputSchema } as const
      for (const isThinking of [true, false]) {
        const switched = isThinking ? thinking : ({ type: 'disabled' } as const)
        const answer = await messages().create({ ...least, thinking: switched, output_config: { format } })
        equal(answer.stop_reason, 'end_turn')
        deepEqual(
          answer.content.map(({ type }) => type),
          isThinking ? ['thinking', 'text'] : ['text'],
        )
        const last = answer.content.at(-1)
        ok(last?.type === 'text')
        equal(validate(inputSchema, JSON.parse(last.text)), null)
      }
    })

    test('a call that is cut says so, wherever that is', async () => {
      const fields = {
        ...least,
        temperature: 0,
        thinking: { type: 'disabled' },
        tools,
        tool_choice: { type: 'any' },
      } as const
      const { usage } = await messages().create(fields)
      for (let limit = 1; limit < usage.output_tokens; limit += 3) {
        const answer = await messages().create({ ...fields, max_tokens: limit })
        equal(answer.stop_reason, 'max_tokens')
        ok(
          answer.content.every(({ type }) => type === 'tool_use'),
          JSON.stringify(answer.content),
        )
        const streamed = await messages()
          .stream({ ...fields, max_tokens: limit })
          .finalMessage()
        equal(streamed.stop_reason, 'max_tokens')
        equal(streamed.usage.output_tokens, limit)
      }
    })
  })
}
