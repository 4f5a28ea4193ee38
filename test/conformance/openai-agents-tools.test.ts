// Runs of the OpenAI Agents SDK with tools: a scripted model calls two at once and tells what they said.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Agent, tool, type JsonSchemaDefinition } from '@openai/agents'
import { recordFetch } from '../harness/http/record-fetch.ts'
import type { Listening } from './clients/client.ts'
import { createRunner } from './clients/openai-agents.ts'
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

describe('OpenAI Agents SDK', () => {
  const recorded = recordFetch()
  const runner = ({ address, key }: Listening = service) => createRunner({ address, key, fetch: recorded.fetch })
  const asked: string[] = []
  const weather = tool({
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: weatherSchema as never,
    strict: true,
    execute(input) {
      const { city } = input as { city: string }
      asked.push(city)
      return weatherOf(city)
    },
  })
  const agent = new Agent({ name: 'Forecaster', model: 'clarke-1.0', tools: [weather] })

  beforeEach(() => {
    asked.splice(0)
    service.requests.splice(0)
    recorded.clear()
  })

  test('a run with tools', async () => {
    const { finalOutput, state } = await runner().run(agent, question)
    equal(finalOutput, told)
    deepEqual(asked, ['Köln', 'Paris'])
    checkHistory(service.requests)
    equal(state.usage.requests, 2)
  })

  test('a streamed run with tools', async () => {
    const result = await runner().run(agent, question, { stream: true })
    const names: string[] = []
    for await (const event of result) if (event.type === 'run_item_stream_event') names.push(event.name)
    await result.completed
    equal(result.finalOutput, told)
    deepEqual(names, ['tool_called', 'tool_called', 'tool_output', 'tool_output', 'message_output_created'])
    checkHistory(service.requests)
    equal(await recorded.checkStreams(), 2)
  })

  test('an output of a schema after the tools', async () => {
    const schema = {
      type: 'object',
      properties: { report: { type: 'string' } },
      required: ['report'],
      additionalProperties: false,
    }
    const outputType = { type: 'json_schema', name: 'report', strict: true, schema } as unknown as JsonSchemaDefinition
    const reporter = new Agent<unknown, JsonSchemaDefinition>({
      name: 'Reporter',
      model: 'clarke-1.0',
      tools: [weather],
      outputType,
    })
    deepEqual((await runner().run(reporter, question)).finalOutput, toldAsJson)
  })

  test('a call that breaks off is not made', async () => {
    const faulty = await startFaultyService({ always: brokenInCall })
    const result = await runner(faulty).run(agent, question, { stream: true })
    const reading = async () => {
      for await (const _ of result);
      await result.completed
    }
    const error = await reading().then(
      () => null,
      (thrown: unknown) => thrown,
    )
    await faulty.close()
    match(String(error), /failed to complete the request/)
    deepEqual(asked, [])
  })
})
