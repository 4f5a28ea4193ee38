// LangChain's chat models of both formats, against the engine itself.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import { validate } from '../grammar/validate.ts'
import { longMessages } from '../harness/http/ask.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { chatModels } from './clients/langchain.ts'

/** Types alone: the messages client moves every other limit of a schema into its descriptions. */
const reportSchema = {
  title: 'report',
  type: 'object',
  properties: { isWarm: { type: 'boolean' }, celsius: { type: 'integer' } },
  required: ['isWarm', 'celsius'],
  additionalProperties: false,
} as const

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

for (const { name, format, create } of chatModels) {
  describe(name, () => {
    const isChat = format === 'chat'
    const recorded = recordFetch()
    const model = (id = 'clarke-1.0', key = service.key) =>
      create({ address: service.address, key, fetch: recorded.fetch, model: id })

    afterEach(async () => {
      await recorded.checkStreams()
      recorded.clear()
    })

    async function collect(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
      let sum: AIMessageChunk | undefined
      for await (const chunk of stream) sum = sum === undefined ? chunk : sum.concat(chunk)
      return sum!
    }

    // Its type is derived from the content's and comes to nothing for a plain message.
    const usageOf = (message: AIMessageChunk) => message.usage_metadata as unknown as UsageMetadata

    test('an answer has its text, its end and its usage', async () => {
      const answer = await model().invoke('Hello there')
      const { response_metadata: metadata } = answer
      const usage = usageOf(answer)
      match(answer.text, /\S/)
      equal(isChat ? metadata['finish_reason'] : metadata['stop_reason'], isChat ? 'stop' : 'end_turn')
      equal(isChat ? metadata['model_name'] : metadata['model'], 'clarke-1.0')
      ok(usage.input_tokens > 0 && usage.output_tokens > 0)
      equal(usage.total_tokens, usage.input_tokens + usage.output_tokens)
    })

    test('tokens that come from the cache are counted as such', async () => {
      const prompt = 'Hello there. '.repeat(500)
      await model().invoke(prompt)
      const again = usageOf(await model().invoke(prompt))
      equal(again.input_token_details?.cache_read, again.input_tokens - 1)
    })

    test('a stream adds up to an answer, and its usage is counted once', async () => {
      const chunks: AIMessageChunk[] = []
      const stream = await model().stream('Hello there')
      const sum = await collect(
        (async function* () {
          for await (const chunk of stream) {
            chunks.push(chunk)
            yield chunk
          }
        })(),
      )
      match(sum.text, /\S/)
      equal(chunks.map(({ text }) => text).join(''), sum.text)
      const row = service.ledger().at(-1)!
      const usage = usageOf(sum)
      deepEqual(
        [usage.input_tokens, usage.output_tokens, usage.input_token_details?.cache_read],
        [row.input_uncached + row.input_cache_read, row.output, row.input_cache_read],
      )
      equal(await recorded.checkStreams(), 1)
    })

    test('thinking is shown beside the text, whole and streamed', async () => {
      const thinks = model('hal-1.0')
      for (const message of [await thinks.invoke('Hello there'), await collect(await thinks.stream('Hello there'))]) {
        // Small weights may end when they have thought.
        const reasoning = message.contentBlocks.find(({ type }) => type === 'reasoning')?.['reasoning']
        const shown = isChat ? message.additional_kwargs['reasoning_content'] : reasoning
        match(String(shown), /\S/)
        ok(!message.text.includes(String(shown)))
      }
    })

    for (const method of ['jsonSchema', 'functionCalling'] as const) {
      test(`an object of a schema by ${method}`, async () => {
        const structured = model().withStructuredOutput<Record<string, unknown>>(reportSchema, { method })
        equal(validate(reportSchema, await structured.invoke('Hello there')), null)
      })
    }

    test('a reader that leaves stops the engine', async () => {
      const known = service.ledger().length
      const controller = new AbortController()
      const { content } = longMessages(16_000)[0]!
      const reading = async () => {
        for await (const _ of await model().stream(content, { signal: controller.signal })) controller.abort()
      }
      await rejects(reading(), { name: 'AbortError' })
      const row = await until(() => service.ledger()[known], 'The ledger has no row.')
      deepEqual([row.outcome, row.output], ['aborted', 0])
      equal(recorded.requests.length, 1)
    })

    test('a wrong key, an unknown model and a prompt that is too long are reported once', async () => {
      const failure = async (asking: Promise<unknown>) => {
        recorded.clear()
        const error = await asking.then(
          () => null,
          (thrown: unknown) => thrown as Error & { readonly lc_error_code?: string; readonly status?: number },
        )
        notEqual(error, null)
        equal(recorded.requests.length, 1)
        return error!
      }
      const wrongKey = await failure(model('clarke-1.0', 'sk-wrong-0123456789').invoke('Hello'))
      deepEqual([wrongKey.status, wrongKey.lc_error_code], [401, 'MODEL_AUTHENTICATION'])
      const unknown = await failure(model('gpt-4o').invoke('Hello'))
      deepEqual([unknown.status, unknown.lc_error_code], [404, 'MODEL_NOT_FOUND'])
      match(unknown.message, /vailable models: hal-1\.0, clarke-1\.0, tycho-1\.0/)
      const tooLong = await failure(model().invoke(longMessages(40_000)[0]!.content))
      equal(tooLong.name, 'ContextOverflowError')
      match(tooLong.message, format === 'chat' ? /32768/ : /32767/)
    })
  })
}
