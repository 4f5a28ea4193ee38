import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { longMessages } from '../harness/http/ask.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

type Message = OpenAI.ChatCompletionMessage & { readonly reasoning?: string; readonly reasoning_content?: string }
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & Pick<Message, 'reasoning' | 'reasoning_content'>

/** Both versions have the same surface; the tests are written against the types of the newer one. */
const clients = { 'OpenAI SDK 7': OpenAI, 'OpenAI SDK 6': OpenAI6 as unknown as typeof OpenAI }

const hello: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello there' }]
const requestIdPattern = /^req_[A-Za-z0-9_-]{24,}$/

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

for (const [name, Client] of Object.entries(clients)) {
  describe(name, () => {
    const recorded = recordFetch()
    const connect = (apiKey = service.key) =>
      new Client({ baseURL: `${service.address}/v1`, apiKey, fetch: recorded.fetch })
    const createWith = async (fields: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) =>
      connect().chat.completions.create({ model: 'clarke-1.0', messages: hello, ...fields })

    afterEach(async () => {
      await recorded.checkStreams()
      recorded.clear()
    })

    test('an answer has every field of the format', async () => {
      const answer = await createWith({ temperature: 0 })
      match(answer.id, /^chatcmpl-.{20,}/)
      equal(answer.object, 'chat.completion')
      equal(answer.model, 'clarke-1.0')
      ok(Math.abs(answer.created - Date.now() / 1_000) < 60)
      match(answer.system_fingerprint ?? '', /^fp_[0-9a-f]{10}$/)
      equal(answer.service_tier, 'default')
      equal(answer.choices.length, 1)
      const choice = answer.choices[0]!
      deepEqual([choice.index, choice.finish_reason, choice.logprobs], [0, 'stop', null])
      const { role, content, refusal } = choice.message
      deepEqual([role, refusal], ['assistant', null])
      match(content ?? '', /\S/)
      ok(!('tool_calls' in choice.message) && !('function_call' in choice.message))
      const usage = answer.usage!
      ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0)
      equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
      equal(usage.completion_tokens_details?.reasoning_tokens, 0)
      const again = (await createWith({ temperature: 0 })).usage!
      equal(again.prompt_tokens, usage.prompt_tokens)
      equal(again.prompt_tokens_details?.cached_tokens, usage.prompt_tokens - 1, 'the last token is always computed')
    })

    test('the request id is that of the headers', async () => {
      const {
        data,
        response,
        request_id: requestId,
      } = await connect().chat.completions.create({ model: 'tycho-1.0', messages: hello }).withResponse()
      match(requestId ?? '', requestIdPattern)
      equal((data as { _request_id?: string })._request_id, requestId)
      equal(response.headers.get('request-id'), requestId)
    })

    test('a stream adds up to the answer that comes whole, and so does its usage', async () => {
      const fields = { model: 'hal-1.0', messages: hello, temperature: 0, seed: 7 } as const
      const whole = await connect().chat.completions.create(fields)
      const stream = await connect().chat.completions.create({
        ...fields,
        stream: true,
        stream_options: { include_usage: true },
      })
      let content = ''
      let reasoning = ''
      let usage: OpenAI.CompletionUsage | null | undefined
      for await (const chunk of stream) {
        const delta = chunk.choices[0]?.delta as Delta | undefined
        content += delta?.content ?? ''
        reasoning += delta?.reasoning ?? ''
        usage = chunk.usage
      }
      const message = whole.choices[0]!.message as Message
      equal(content, message.content)
      equal(reasoning, message.reasoning)
      const cached = { ...whole.usage?.prompt_tokens_details, cached_tokens: (whole.usage?.prompt_tokens ?? 0) - 1 }
      deepEqual(usage, { ...whole.usage, prompt_tokens_details: cached })
      equal(await recorded.checkStreams(), 1)
    })

    test('the stream helper ends with the whole answer', async () => {
      const runner = connect().chat.completions.stream({
        model: 'hal-1.0',
        messages: hello,
        stream_options: { include_usage: true },
      })
      const pieces: string[] = []
      runner.on('content', (piece) => pieces.push(piece))
      const answer = await runner.finalChatCompletion()
      equal(pieces.join(''), answer.choices[0]?.message.content)
      equal(answer.choices[0]?.finish_reason, 'stop')
      ok((await runner.totalUsage()).completion_tokens > 0)
      equal(await recorded.checkStreams(), 1)
    })

    test('a stream without the option has no usage chunk', async () => {
      const stream = await connect().chat.completions.create({ model: 'clarke-1.0', messages: hello, stream: true })
      const lengths: number[] = []
      for await (const chunk of stream) lengths.push(chunk.choices.length)
      ok(lengths.every((length) => length === 1))
      equal(await recorded.checkStreams(), 1)
    })

    test('a client that aborts gets no more, and the ledger says so', async () => {
      const known = new Set(service.ledger().map(({ request_id: id }) => id))
      const messages = longMessages(16_000)
      const { data: stream, request_id: requestId } = await connect()
        .chat.completions.create({ model: 'clarke-1.0', messages, stream: true })
        .withResponse()
      let count = 0
      for await (const chunk of stream) {
        equal(chunk.choices[0]?.delta.role, 'assistant')
        count += 1
        stream.controller.abort()
      }
      equal(count, 1)
      const row = await until(
        () => service.ledger().find(({ request_id: id }) => id === requestId && !known.has(id)),
        'The ledger has no row.',
      )
      deepEqual([row.outcome, row.output], ['aborted', 0])
      ok(row.input_uncached > 16_000 && row.input_cache_read < 20)
    })

    test('hal-1.0 shows its reasoning under both names and counts it', async () => {
      const answer = await createWith({ model: 'hal-1.0' })
      const message = answer.choices[0]?.message as Message
      match(message.reasoning ?? '', /\S/)
      equal(message.reasoning, message.reasoning_content)
      ok(!message.content?.includes('<think'))
      const { completion_tokens: output, completion_tokens_details: details } = answer.usage!
      ok((details?.reasoning_tokens ?? 0) > 0 && (details?.reasoning_tokens ?? 0) < output)
    })

    test('reasoning can be switched off and on', async () => {
      const off = await createWith({ model: 'hal-1.0', reasoning_effort: 'none' })
      ok(!('reasoning' in off.choices[0]!.message))
      equal(off.usage?.completion_tokens_details?.reasoning_tokens, 0)
      const on = await createWith({ model: 'clarke-1.0', reasoning_effort: 'low' })
      match((on.choices[0]!.message as Message).reasoning ?? '', /\S/)
    })

    test('an answer may be sent back as it came', async () => {
      const first = await createWith({ model: 'hal-1.0' })
      const messages = [...hello, first.choices[0]!.message, { role: 'user', content: 'And now?' } as const]
      const second = await createWith({ model: 'hal-1.0', messages })
      equal(second.choices[0]?.finish_reason, 'stop')
      ok(second.usage!.prompt_tokens > first.usage!.prompt_tokens)
    })

    test('a stop sequence ends the answer and is left out', async () => {
      const fields = { temperature: 0 } as const
      const content = (await createWith(fields)).choices[0]!.message.content!
      const stop = content.split(' ')[2]!
      const stopped = await createWith({ ...fields, stop: [stop, 'never said'] })
      equal(stopped.choices[0]?.finish_reason, 'stop')
      equal(stopped.choices[0]?.message.content, content.slice(0, content.indexOf(stop)))
    })

    test('a full answer ends with length', async () => {
      for (const limit of [{ max_tokens: 3 }, { max_completion_tokens: 3 }]) {
        const answer = await createWith(limit)
        equal(answer.choices[0]?.finish_reason, 'length')
        equal(answer.usage?.completion_tokens, 3)
      }
    })

    test('max_completion_tokens wins over max_tokens', async () => {
      const answer = await createWith({ max_tokens: 9, max_completion_tokens: 2 })
      equal(answer.usage?.completion_tokens, 2)
    })

    test('the same seed gives the same text, another one another', async () => {
      const contentOf = async (seed: number) => (await createWith({ temperature: 1, seed })).choices[0]!.message.content
      const first = await contentOf(11)
      equal(await contentOf(11), first)
      const others = await Promise.all([12, 13, 14, 15].map(contentOf))
      ok(others.some((other) => other !== first))
      ok(new Set(others).size > 1)
    })

    test('models are listed in order and found one by one', async () => {
      const list = await connect().models.list()
      deepEqual(
        list.data.map(({ id }) => id),
        ['clarke-1.0', 'hal-1.0', 'tycho-1.0'],
      )
      const ids: string[] = []
      for await (const { id } of connect().models.list()) ids.push(id)
      equal(ids.length, 3)
      for (const model of list.data) {
        const found = await connect().models.retrieve(model.id)
        deepEqual({ ...found }, { ...model })
        equal(found.object, 'model')
      }
    })

    const failure = async (asking: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
      let caught: unknown
      await rejects(asking, (error) => {
        caught = error
        return true
      })
      ok(caught instanceof Client.APIError, String(caught))
      return caught
    }

    test('a wrong key is an authentication error at once', async () => {
      const asking = connect('sk-wrong-0123456789').chat.completions.create({ model: 'clarke-1.0', messages: hello })
      const error = await failure(asking)
      ok(error instanceof Client.AuthenticationError)
      deepEqual([error.status, error.type, error.code], [401, 'invalid_request_error', 'invalid_api_key'])
      match(error.requestID ?? '', requestIdPattern)
      equal(recorded.requests.length, 1)
    })

    test('an unknown model is not found at once', async () => {
      const error = await failure(createWith({ model: 'gpt-4o' }))
      ok(error instanceof Client.NotFoundError)
      deepEqual([error.status, error.code, error.param], [404, 'model_not_found', 'model'])
      match(error.message, /`gpt-4o` does not exist/)
      const missing = await failure(connect().models.retrieve('Hal-1.0'))
      deepEqual([missing.status, missing.code], [404, 'model_not_found'])
      equal(recorded.requests.length, 2)
    })

    test('a wrong field is a bad request that names it', async () => {
      const cases = [
        { fields: { temperature: 3 }, param: 'temperature', code: 'invalid_value' },
        { fields: { max_tokens: 'many' as unknown as number }, param: 'max_tokens', code: 'invalid_type' },
        { fields: { messages: [] }, param: 'messages', code: 'invalid_value' },
        { fields: { n: 9 }, param: 'n', code: 'invalid_value' },
        { fields: { top_logprobs: 3 }, param: 'top_logprobs', code: 'invalid_value' },
        { fields: { logit_bias: { '1': 500 } }, param: 'logit_bias.1', code: 'invalid_value' },
      ]
      for (const { fields, param, code } of cases) {
        const error = await failure(createWith(fields))
        ok(error instanceof Client.BadRequestError)
        deepEqual([error.status, error.param, error.code], [400, param, code])
      }
      equal(recorded.requests.length, cases.length)
    })

    test('a stream that is refused is refused before it begins', async () => {
      const asking = connect().chat.completions.create({ model: 'clarke-1.0', messages: hello, n: 9, stream: true })
      equal((await failure(asking)).status, 400)
    })

    test('several choices are answered apart, streamed and not, the prompt counted once', async () => {
      const settings = { model: 'clarke-1.0', messages: hello, n: 3, seed: 5, temperature: 1 } as const
      const one = await connect().chat.completions.create({ ...settings, n: 1 })
      const whole = await connect().chat.completions.create(settings)
      deepEqual(
        whole.choices.map(({ index }) => index),
        [0, 1, 2],
      )
      equal(whole.usage?.prompt_tokens, one.usage?.prompt_tokens)
      equal(new Set(whole.choices.map(({ message }) => message.content)).size, 3)
      const streamed = await connect()
        .chat.completions.stream({ ...settings, stream_options: { include_usage: true } })
        .finalChatCompletion()
      equal(streamed.choices.length, 3)
      ok(streamed.choices.every((choice) => choice.finish_reason === 'stop' && choice.message.content))
      ok((streamed.usage?.completion_tokens ?? 0) > 3)
    })

    test('what is not offered is asked for once', async () => {
      const client = connect()
      const responses = await failure(client.responses.create({ model: 'clarke-1.0', input: 'Hello' }))
      const embeddings = await failure(client.embeddings.create({ model: 'clarke-1.0', input: 'Hello' }))
      const stored = await failure(client.chat.completions.retrieve('chatcmpl-1'))
      for (const error of [responses, embeddings, stored]) {
        ok(error instanceof Client.NotFoundError)
        deepEqual([error.status, error.code], [404, 'unsupported_endpoint'])
      }
      match(responses.message, /^404 The responses format is not offered; use POST \/v1\/chat\/completions\.$/)
      match(embeddings.message, /dedicated embedding provider/)
      deepEqual(
        recorded.requests.map(({ url }) => new URL(url).pathname),
        ['/v1/responses', '/v1/embeddings', '/v1/chat/completions/chatcmpl-1'],
      )
    })

    test('fields of other servers and nulls are let through', async () => {
      const nulls = { temperature: null, stop: null, seed: null, tools: undefined, response_format: undefined }
      const extras = { store: false, user: 'someone', unheard_of: { deep: [1] }, extra_body: {} }
      const answer = await createWith({ ...nulls, ...extras } as never)
      notEqual(answer.choices[0]?.message.content, '')
    })
  })
}
