// The AI SDK with each provider that reaches this service, against the engine itself.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { APICallError, generateObject, generateText, jsonSchema, Output, streamObject, streamText, tool } from 'ai'
import { validate } from '../grammar/validate.ts'
import { longMessages } from '../harness/http/ask.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { providers } from './clients/vercel-ai.ts'

const reportSchema = {
  type: 'object',
  properties: { title: { type: 'string', maxLength: 30 }, celsius: { type: 'integer', minimum: -90, maximum: 60 } },
  required: ['title', 'celsius'],
  additionalProperties: false,
} as const
type Report = { title: string; celsius: number }
const schema = jsonSchema<Report>(reportSchema)

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

for (const { name, format, model: create } of providers) {
  describe(name, () => {
    const recorded = recordFetch()
    const model = (id = 'clarke-1.0', key = service.key) =>
      create({ address: service.address, key, fetch: recorded.fetch, model: id })
    const fields = (id?: string) => ({ model: model(id), prompt: 'Hello there', maxOutputTokens: 900, temperature: 0 })

    afterEach(async () => {
      await recorded.checkStreams()
      recorded.clear()
    })

    test('an answer has its text, its end and its usage', async () => {
      const { text, finishReason, usage, response } = await generateText(fields())
      match(text, /\S/)
      equal(finishReason, 'stop')
      equal(response.modelId, 'clarke-1.0')
      ok(usage.inputTokens! > 0 && usage.outputTokens! > 0)
      equal(usage.totalTokens, usage.inputTokens! + usage.outputTokens!)
      equal(usage.outputTokenDetails.reasoningTokens, 0)
    })

    test('tokens that come from the cache are counted as such', async () => {
      const long = { ...fields(), prompt: 'Hello there. '.repeat(100), maxOutputTokens: 100 }
      await generateText(long)
      const { inputTokens, inputTokenDetails } = (await generateText(long)).usage
      equal(inputTokenDetails.cacheReadTokens, inputTokens! - 1)
      equal(inputTokenDetails.noCacheTokens, 1)
    })

    test('a stream adds up to the answer that comes whole, and so does its usage', async () => {
      const whole = await generateText(fields())
      const result = streamText(fields())
      const pieces: string[] = []
      for await (const piece of result.textStream) pieces.push(piece)
      ok(pieces.length > 1)
      equal(pieces.join(''), whole.text)
      equal(await result.finishReason, 'stop')
      const { inputTokens, outputTokens } = await result.usage
      deepEqual([inputTokens, outputTokens], [whole.usage.inputTokens, whole.usage.outputTokens])
      equal(await recorded.checkStreams(), 1)
    })

    if (name.includes('in chat mode')) {
      test('thinking, which it does not show, stays out of the text', async () => {
        const { text, usage } = await generateText({ ...fields('hal-1.0'), reasoning: 'low' })
        match(text, /\S/)
        ok(!text.includes('<think') && usage.outputTokenDetails.reasoningTokens! > 0)
      })
    } else {
      test('thinking is reasoning, whole and streamed, and can be switched off', async () => {
        const thinking = { ...fields('hal-1.0'), reasoning: 'low' } as const
        const whole = await generateText(thinking)
        match(whole.reasoningText ?? '', /\S/)
        ok(whole.usage.outputTokenDetails.reasoningTokens! > 0)
        const result = streamText(thinking)
        const pieces = { reasoning: '', text: '' }
        for await (const part of result.fullStream) {
          if (part.type === 'reasoning-delta') pieces.reasoning += part.text
          if (part.type === 'text-delta') pieces.text += part.text
          if (part.type === 'text-start') match(pieces.reasoning, /\S/)
        }
        // Small weights may end when they have thought; the text itself is the matter of other tests.
        match(pieces.reasoning, /\S/)
        deepEqual([await result.reasoningText, await result.text], [pieces.reasoning, pieces.text])
        const off = await generateText({ ...fields('hal-1.0'), reasoning: 'none' })
        equal(off.reasoningText, undefined)
      })
    }

    test('an object of a schema, whole and streamed', async () => {
      const { object } = await generateObject({ ...fields(), schema })
      equal(validate(reportSchema, object), null)
      const streamed = streamObject({ ...fields(), schema })
      const parts: unknown[] = []
      for await (const part of streamed.partialObjectStream) parts.push(part)
      deepEqual(parts.at(-1), object)
      deepEqual(await streamed.object, object)
      const { output } = await generateText({ ...fields(), output: Output.object({ schema }) })
      deepEqual(output, object)
    })

    test('a tool that must be called gets arguments of its schema', async () => {
      const given: Report[] = []
      const report = tool({
        description: 'Files a report.',
        inputSchema: schema,
        execute: (input) => {
          given.push(input)
          return 'filed'
        },
      })
      const { toolResults, finishReason } = await generateText({
        ...fields(),
        tools: { report },
        toolChoice: 'required',
      })
      equal(finishReason, 'tool-calls')
      ok(given.length > 0 && toolResults.length === given.length)
      for (const input of given) equal(validate(reportSchema, input), null)
    })

    test('a reader that leaves stops the engine', async () => {
      const known = service.ledger().length
      const controller = new AbortController()
      const leaving: typeof fetch = async (...sent) => {
        const head = await recorded.fetch(...sent)
        controller.abort()
        return head
      }
      const result = streamText({
        model: create({ address: service.address, key: service.key, fetch: leaving }),
        messages: longMessages(16_000),
        abortSignal: controller.signal,
      })
      const types: string[] = []
      for await (const { type } of result.fullStream) types.push(type)
      equal(types.at(-1), 'abort')
      const row = await until(() => service.ledger()[known], 'The ledger has no row.')
      deepEqual([row.outcome, row.output], ['aborted', 0])
    })

    const failure = async (asking: Promise<unknown>): Promise<APICallError> => {
      let caught: unknown
      await rejects(asking, (error) => {
        caught = error
        return true
      })
      ok(APICallError.isInstance(caught), String(caught))
      equal(recorded.requests.length, 1)
      return caught
    }

    test('a wrong key, an unknown model and a prompt that is too long are reported once', async () => {
      const wrongKey = await failure(generateText({ ...fields(), model: model('clarke-1.0', 'sk-wrong-0123456789') }))
      deepEqual([wrongKey.statusCode, wrongKey.isRetryable], [401, false])
      match(wrongKey.message, format === 'chat' ? /Incorrect API key provided/ : /invalid x-api-key/)
      recorded.clear()
      const unknown = await failure(generateText(fields('gpt-4o')))
      equal(unknown.statusCode, 404)
      match(unknown.message, /gpt-4o.*vailable models: hal-1\.0, clarke-1\.0, tycho-1\.0/)
      recorded.clear()
      const { prompt: _, ...rest } = fields()
      const tooLong = await failure(generateText({ ...rest, messages: longMessages(40_000) }))
      equal(tooLong.statusCode, 400)
      match(tooLong.message, format === 'chat' ? /maximum context length is 32768 tokens/ : /tokens > 32767 maximum/)
    })
  })
}
