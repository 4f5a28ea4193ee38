// The OpenAI Agents SDK in chat completions mode, against the engine itself.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { Agent, tool, type JsonSchemaDefinition } from '@openai/agents'
import OpenAI from 'openai'
import { validate } from '../grammar/validate.ts'
import { longMessages } from '../harness/http/ask.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { createRunner } from './clients/openai-agents.ts'

const reportSchema = {
  type: 'object',
  properties: { place: { type: 'string', enum: ['Köln', 'Paris'] }, celsius: { type: 'integer' } },
  required: ['place', 'celsius'],
  additionalProperties: false,
} as const

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

describe('OpenAI Agents SDK', () => {
  const recorded = recordFetch()
  const runner = (key = service.key) => createRunner({ address: service.address, key, fetch: recorded.fetch })
  const agent = (model = 'clarke-1.0') => new Agent({ name: 'Assistant', instructions: 'Be brief.', model })

  afterEach(async () => {
    await recorded.checkStreams()
    recorded.clear()
  })

  test('a run has its text and its usage', async () => {
    // The prompt is so long that no answer behind it is worth more to the prompt cache than it is.
    const run = async () => runner().run(agent(), 'Hello there. '.repeat(500))
    match((await run()).finalOutput ?? '', /\S/)
    const { usage } = (await run()).state
    equal(usage.requests, 1)
    equal(usage.totalTokens, usage.inputTokens + usage.outputTokens)
    equal(usage.inputTokensDetails[0]?.['cached_tokens'], usage.inputTokens - 1)
    const row = service.ledger().at(-1)!
    deepEqual([usage.inputTokens, usage.outputTokens], [row.input_uncached + row.input_cache_read, row.output])
  })

  test('a streamed run adds up to its output', async () => {
    const result = await runner().run(agent(), 'Hello there', { stream: true })
    let text = ''
    for await (const event of result) {
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta
    }
    await result.completed
    match(text, /\S/)
    equal(result.finalOutput, text)
    ok(result.state.usage.outputTokens > 0)
    equal(await recorded.checkStreams(), 1)
  })

  test('thinking is a reasoning item', async () => {
    const { newItems, finalOutput } = await runner().run(agent('hal-1.0'), 'Hello there')
    const reasoning = newItems.find(({ type }) => type === 'reasoning_item')
    match(JSON.stringify(reasoning?.rawItem), /reasoning_text/)
    ok(!finalOutput?.includes('<think'))
  })

  test('an output of a schema', async () => {
    const outputType = {
      type: 'json_schema',
      name: 'report',
      strict: true,
      schema: reportSchema,
    } as unknown as JsonSchemaDefinition
    const reporter = new Agent<unknown, JsonSchemaDefinition>({ name: 'Reporter', model: 'clarke-1.0', outputType })
    equal(validate(reportSchema, (await runner().run(reporter, 'Hello there')).finalOutput), null)
  })

  test('a tool that must be called', async () => {
    const given: unknown[] = []
    const report = tool({
      name: 'report',
      description: 'Files a report.',
      parameters: reportSchema as never,
      strict: true,
      execute: (input) => {
        given.push(input)
        return 'filed'
      },
    })
    const reporter = new Agent({
      name: 'Reporter',
      model: 'clarke-1.0',
      tools: [report],
      modelSettings: { toolChoice: 'required', parallelToolCalls: false },
      toolUseBehavior: 'stop_on_first_tool',
    })
    equal((await runner().run(reporter, 'Hello there')).finalOutput, 'filed')
    equal(given.length, 1)
    equal(validate(reportSchema, given[0]), null)
  })

  test('a reader that leaves stops the engine', async () => {
    const known = service.ledger().length
    const controller = new AbortController()
    const { signal } = controller
    const { content } = longMessages(16_000)[0]!
    const result = await runner().run(agent(), content, { stream: true, signal })
    const reading = async () => {
      for await (const event of result) if (event.type === 'raw_model_stream_event') controller.abort()
      await result.completed
    }
    // Whether it throws then is its own affair.
    await reading().catch(() => {})
    const row = await until(() => service.ledger()[known], 'The ledger has no row.')
    deepEqual([row.outcome, row.output], ['aborted', 0])
    equal(recorded.requests.length, 1)
  })

  test('a wrong key, an unknown model and a prompt that is too long are reported once', async () => {
    const failure = async (asking: Promise<unknown>) => {
      recorded.clear()
      const error = await asking.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      ok(error instanceof OpenAI.APIError, String(error))
      equal(recorded.requests.length, 1)
      return error
    }
    equal((await failure(runner('sk-wrong-0123456789').run(agent(), 'Hello'))).code, 'invalid_api_key')
    const unknown = await failure(runner().run(agent('gpt-4o'), 'Hello'))
    deepEqual([unknown.status, unknown.code], [404, 'model_not_found'])
    const tooLong = await failure(runner().run(agent(), longMessages(40_000)[0]!.content))
    deepEqual([tooLong.status, tooLong.code], [400, 'context_length_exceeded'])
  })
})
