// Both versions of the official client of the chat completions format, with their helpers, against the engine itself.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { validate } from '../grammar/validate.ts'

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming
type Tool = OpenAI.ChatCompletionFunctionTool

/** Both versions have the same surface; the tests are written against the types of the newer one. */
const clients = { 'OpenAI SDK 7': OpenAI, 'OpenAI SDK 6': OpenAI6 as unknown as typeof OpenAI }

const hello: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is the weather in Köln?' }]
const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 20 }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
}
const weather: Tool = {
  type: 'function',
  function: { name: 'get_weather', description: 'Tells the weather.', strict: true, parameters: weatherSchema },
}
const reportSchema = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 30 },
    celsius: { type: 'number', minimum: -90, maximum: 60 },
    sky: { enum: ['clear', 'cloudy', '🌧'] },
    note: { type: ['string', 'null'], maxLength: 20 },
  },
  required: ['title', 'celsius', 'sky', 'note'],
  additionalProperties: false,
}
const models = ['clarke-1.0', 'hal-1.0', 'tycho-1.0']

let service: Service
const recorded = recordFetch()
const least = { model: 'clarke-1.0', messages: hello, max_completion_tokens: 600 } as const

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})
afterEach(async () => {
  await recorded.checkStreams()
})

function checkReport(text: string | null | undefined): void {
  equal(validate(reportSchema, JSON.parse(text ?? '')), null)
}

for (const [name, Client] of Object.entries(clients)) {
  describe(name, () => {
    const completions = () =>
      new Client({ baseURL: `${service.address}/v1`, apiKey: service.key, fetch: recorded.fetch, maxRetries: 0 }).chat
        .completions

    describe('structured output', () => {
      const format = {
        type: 'json_schema',
        json_schema: { name: 'report', strict: true, schema: reportSchema },
      } as const

      for (const model of models) {
        test(`parse() reads an answer of ${model}`, async () => {
          const answer = await completions().parse({ ...least, model, response_format: format })
          const [choice] = answer.choices
          equal(choice?.finish_reason, 'stop')
          checkReport(choice?.message.content)
          deepEqual(choice?.message.parsed, JSON.parse(choice?.message.content ?? ''))
        })
      }

      test('the stream helper reads the same answer', async () => {
        const fields = { ...least, temperature: 0, response_format: format }
        const whole = await completions().parse(fields)
        const streamed = await completions()
          .stream({ ...fields, stream_options: { include_usage: true } })
          .finalChatCompletion()
        equal(streamed.choices[0]?.message.content, whole.choices[0]?.message.content)
        // How much of the prompt was at hand may differ, and nothing else.
        const cached = whole.usage?.prompt_tokens_details
        deepEqual({ ...streamed.usage, prompt_tokens_details: cached }, whole.usage)
      })

      test('an answer that is cut is said to be', async () => {
        const answer = await completions().create({ ...least, max_completion_tokens: 5, response_format: format })
        equal(answer.choices[0]?.finish_reason, 'length')
        ok(answer.choices[0]?.message.content?.startsWith('{'))
      })
    })

    describe('tools', () => {
      test('a loop calls the tool, reads its result and answers', async () => {
        const messages = [...hello]
        const seen: unknown[] = []
        // Weights that babble never stop calling: the second turn is told not to.
        for (const choice of ['required', 'none'] as const) {
          const answer = await completions().create({ ...least, messages, tools: [weather], tool_choice: choice })
          const { message, finish_reason: reason } = answer.choices[0]!
          messages.push(message)
          equal(reason, choice === 'required' ? 'tool_calls' : 'stop')
          for (const call of message.tool_calls ?? []) {
            ok(call.type === 'function')
            match(call.id, /^call_[0-9A-Za-z]{20,}$/)
            const given: unknown = JSON.parse(call.function.arguments)
            equal(validate(weatherSchema, given), null)
            seen.push(given)
            messages.push({ role: 'tool', tool_call_id: call.id, content: '18 °C, 🌧' })
          }
        }
        ok(seen.length > 0)
        const last = messages.at(-1)?.content
        ok(typeof last === 'string' && last.trim() !== '')
      })

      test('the runner of the client calls a function', async () => {
        const given: unknown[] = []
        const runner = completions().runTools(
          {
            ...least,
            tool_choice: { type: 'function', function: { name: 'get_weather' } },
            tools: [
              {
                type: 'function',
                function: {
                  name: 'get_weather',
                  description: 'Tells the weather.',
                  parameters: weatherSchema,
                  parse: (text: string) => JSON.parse(text) as unknown,
                  function: (value: unknown) => {
                    given.push(value)
                    return 'It rains.'
                  },
                },
              },
            ],
          },
          { maxChatCompletions: 2 },
        )
        await runner.done()
        ok(given.length > 0)
        for (const value of given) equal(validate(weatherSchema, value), null)
      })

      for (const model of models) {
        test(`the stream helper puts the calls of ${model} together`, async () => {
          const pieces: string[] = []
          const runner = completions().stream({ ...least, model, tools: [weather], tool_choice: 'required' })
          runner.on('tool_calls.function.arguments.delta', ({ arguments_delta: piece }) => pieces.push(piece))
          const { message, finish_reason: reason } = (await runner.finalChatCompletion()).choices[0]!
          const calls = message.tool_calls ?? []
          ok(calls.length > 0)
          equal(reason, 'tool_calls')
          const texts = calls.map((call) => (call.type === 'function' ? call.function.arguments : ''))
          equal(pieces.join(''), texts.join(''))
          for (const text of texts) equal(validate(weatherSchema, JSON.parse(text)), null)
        })
      }

      test('one call where no more are wanted', async () => {
        for (let round = 0; round < 8; round++) {
          const fields: Params = { ...least, tools: [weather], tool_choice: 'required', parallel_tool_calls: false }
          equal((await completions().create(fields)).choices[0]?.message.tool_calls?.length, 1)
        }
      })

      test('a tool that takes text', async () => {
        const tool = { type: 'custom', custom: { name: 'run', description: 'Runs code.' } } as const
        const choice = { type: 'custom', custom: { name: 'run' } } as const
        const fields = { ...least, temperature: 0, tools: [tool], tool_choice: choice }
        const { message, finish_reason: reason } = (await completions().create(fields)).choices[0]!
        equal(reason, 'tool_calls')
        const [call] = message.tool_calls ?? []
        ok(call?.type === 'custom')
        equal(call.custom.name, 'run')
        let input = ''
        for await (const chunk of await completions().create({ ...fields, stream: true })) {
          const delta = chunk.choices[0]?.delta.tool_calls?.[0] as { custom?: { input?: string } } | undefined
          input += delta?.custom?.input ?? ''
        }
        equal(input, call.custom.input)
      })

      test('the older form calls a function', async () => {
        const functions = [{ name: 'get_weather', parameters: weatherSchema }]
        const answer = await completions().create({ ...least, functions, function_call: { name: 'get_weather' } })
        const { message, finish_reason: reason } = answer.choices[0]!
        equal(reason, 'function_call')
        equal(message.function_call?.name, 'get_weather')
        equal(validate(weatherSchema, JSON.parse(message.function_call?.arguments ?? '')), null)
      })
    })
  })
}
