// The tool loops that the official libraries bring: a scripted model calls two tools at once and tells
// what they said.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { recordFetch } from '../harness/http/record-fetch.ts'
import {
  checkHistory,
  question,
  startWeatherService,
  told,
  weatherOf,
  weatherSchema,
  type WeatherService,
} from './weather-model.ts'

const openais = { 'OpenAI SDK 7': OpenAI, 'OpenAI SDK 6': OpenAI6 as unknown as typeof OpenAI }
const anthropics = { 'Anthropic SDK 1': Anthropic, 'Anthropic SDK 0': Anthropic0 as unknown as typeof Anthropic }

const recorded = recordFetch()
const asked: string[] = []
let service: WeatherService

before(async () => {
  service = await startWeatherService()
})
after(() => service.close())
beforeEach(() => {
  asked.splice(0)
  service.requests.splice(0)
  recorded.clear()
})

function getWeather({ city }: { city: string }): string {
  asked.push(city)
  return weatherOf(city)
}

for (const [name, Client] of Object.entries(openais)) {
  describe(name, () => {
    const weather = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        description: 'Tells the weather.',
        parameters: weatherSchema,
        function: (text: string) => getWeather(JSON.parse(text) as { city: string }),
      },
    }
    const run = (stream: boolean) => {
      const client = new Client({ baseURL: `${service.address}/v1`, apiKey: service.key, fetch: recorded.fetch })
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
      const fields = { model: 'clarke-1.0', messages, tools: [weather] }
      const { completions } = client.chat
      return stream ? completions.runTools({ ...fields, stream: true }) : completions.runTools(fields)
    }

    for (const stream of [false, true]) {
      test(`a run with tools, ${stream ? 'streamed' : 'whole'}`, async () => {
        equal(await run(stream).finalContent(), told)
        deepEqual(asked, ['Köln', 'Paris'])
        checkHistory(service.requests)
        equal(await recorded.checkStreams(), stream ? 2 : 0)
      })
    }
  })
}

for (const [name, Client] of Object.entries(anthropics)) {
  describe(name, () => {
    const fields = () => ({
      model: 'clarke-1.0',
      max_tokens: 900,
      messages: [{ role: 'user' as const, content: question }],
      tools: [
        {
          type: 'custom' as const,
          name: 'get_weather',
          description: 'Tells the weather.',
          input_schema: weatherSchema,
          parse: (input: unknown) => input as { city: string },
          run: getWeather,
        },
      ],
    })
    const runner = () => {
      const client = new Client({ baseURL: service.address, apiKey: service.key, fetch: recorded.fetch })
      return client.beta.messages
    }

    test('a run with tools, whole', async () => {
      const message = await runner().toolRunner(fields()).runUntilDone()
      const [block] = message.content
      ok(block?.type === 'text')
      equal(block.text, told)
      deepEqual(asked, ['Köln', 'Paris'])
      checkHistory(service.requests)
    })

    test('a run with tools, streamed', async () => {
      let text = ''
      for await (const stream of runner().toolRunner({ ...fields(), stream: true })) {
        text = ''
        for await (const event of stream) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
        }
      }
      equal(text, told)
      deepEqual(asked, ['Köln', 'Paris'])
      checkHistory(service.requests)
      equal(await recorded.checkStreams(), 2)
    })

    test('no other request is made than those and what asks for a thread', async () => {
      await runner().toolRunner(fields()).runUntilDone()
      // The newer version asks for a conversation that the server keeps, and goes on without when told to.
      equal(recorded.requests.length, name === 'Anthropic SDK 1' ? 3 : 2)
    })
  })
}
