// The AI SDK's tool loops: a scripted model calls two tools at once and tells what they said.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { generateText, isStepCount, jsonSchema, Output, streamText, tool, ToolLoopAgent } from 'ai'
import { recordFetch } from '../harness/http/record-fetch.ts'
import type { Listening } from './clients/client.ts'
import { providers } from './clients/vercel-ai.ts'
import { brokenInCall, startFaultyService } from './faults/faulty-service.ts'
import {
  checkHistory,
  question,
  startWeatherService,
  told,
  toldAsJson,
  weatherOf,
  weatherSchema,
  type WeatherService,
} from './weather-model.ts'

let service: WeatherService

before(async () => {
  service = await startWeatherService()
})
after(() => service.close())

const asked: string[] = []
const tools = {
  get_weather: tool({
    description: 'Tells the weather.',
    inputSchema: jsonSchema<{ city: string }>(weatherSchema),
    execute({ city }) {
      asked.push(city)
      return weatherOf(city)
    },
  }),
}
const reportSchema = jsonSchema<{ report: string }>({
  type: 'object',
  properties: { report: { type: 'string' } },
  required: ['report'],
  additionalProperties: false,
})

for (const { name, model: create } of providers) {
  describe(name, () => {
    const recorded = recordFetch()
    const fields = ({ address, key }: Listening = service) => {
      const model = create({ address, key, fetch: recorded.fetch })
      return { model, tools, prompt: question, stopWhen: isStepCount(5), maxOutputTokens: 900 }
    }

    beforeEach(() => {
      asked.splice(0)
      service.requests.splice(0)
      recorded.clear()
    })

    test('a loop of steps', async () => {
      const { text, steps, usage } = await generateText(fields())
      equal(text, told)
      deepEqual(asked, ['Köln', 'Paris'])
      deepEqual(
        steps.map(({ finishReason }) => finishReason),
        ['tool-calls', 'stop'],
      )
      checkHistory(service.requests)
      equal(usage.inputTokens, 20, 'ten for each of two requests')
    })

    test('a streamed loop of steps', async () => {
      const result = streamText(fields())
      let input = ''
      for await (const part of result.fullStream) if (part.type === 'tool-input-delta') input += part.delta
      equal(input, '{"city":"Köln"}{"city":"Paris"}')
      equal(await result.text, told)
      deepEqual(asked, ['Köln', 'Paris'])
      checkHistory(service.requests)
      equal(await recorded.checkStreams(), 2)
    })

    test('an agent', async () => {
      const { model, stopWhen } = fields()
      const { text } = await new ToolLoopAgent({ model, tools, stopWhen }).generate({ prompt: question })
      equal(text, told)
      equal(service.requests.length, 2)
    })

    test('thinking between the steps', async () => {
      const { text, steps } = await generateText({ ...fields(), reasoning: 'low' })
      equal(text, told)
      checkHistory(service.requests)
      if (name.includes('in chat mode')) return
      equal(steps[0]?.reasoningText, 'Let me see.')
      const thinking = service.requests[1]?.messages.flatMap(({ content }) =>
        content.flatMap((block) => (block.kind === 'thinking' ? [block.text] : [])),
      )
      deepEqual(thinking, ['Let me see.'], 'it comes back to the model')
    })

    test('an object after the tools, whole and streamed', async () => {
      const output = Output.object({ schema: reportSchema })
      deepEqual((await generateText({ ...fields(), output })).output, toldAsJson)
      const result = streamText({ ...fields(), output })
      const parts: unknown[] = []
      for await (const part of result.partialOutputStream) parts.push(part)
      ok(parts.length > 2)
      deepEqual(parts.at(-1), toldAsJson)
      deepEqual(await result.output, toldAsJson)
    })

    test('a call that breaks off is not made', async () => {
      const faulty = await startFaultyService({ always: brokenInCall })
      const errors: unknown[] = []
      const result = streamText({ ...fields(faulty), onError: ({ error }) => void errors.push(error) })
      await Promise.resolve(result.text).catch((error: unknown) => errors.push(error))
      await faulty.close()
      match(String(errors[0]), /failed to complete the request|Internal server error/)
      deepEqual(asked, [])
    })
  })
}
