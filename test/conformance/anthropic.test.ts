import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import { longMessages } from '../harness/http/ask.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

/** Both versions have the same surface; the tests are written against the types of the newer one. */
const clients = { 'Anthropic SDK 1': Anthropic, 'Anthropic SDK 0': Anthropic0 as unknown as typeof Anthropic }

const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello there' }]
const least = { model: 'clarke-1.0', max_tokens: 1_000, messages: hello } as const
const requestIdPattern = /^req_[A-Za-z0-9_-]{24,}$/

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

/** The whole prompt: what was computed, what was kept for later, and what was there. */
function inputOf(usage: Anthropic.Usage): number {
  return usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
}

for (const [name, Client] of Object.entries(clients)) {
  describe(name, () => {
    const recorded = recordFetch()
    const connectWith = (credentials: { readonly apiKey: string | null; readonly authToken: string | null }) =>
      new Client({ baseURL: service.address, fetch: recorded.fetch, ...credentials })
    const connect = (apiKey = service.key) => connectWith({ apiKey, authToken: null })
    // The newer version's types leave the temperature out; the service honours it for both.
    const createWith = async (fields: Partial<Anthropic.MessageCreateParamsNonStreaming> & { temperature?: number }) =>
      connect().messages.create({ ...least, ...fields })

    afterEach(async () => {
      await recorded.checkStreams()
      recorded.clear()
    })

    test('an answer has every field of the format', async () => {
      const answer = await createWith({})
      const { id, content, usage, _request_id: requestId, ...rest } = answer
      match(id, /^msg_[A-Za-z0-9]{20,}$/)
      match(requestId ?? '', requestIdPattern)
      deepEqual(
        { ...rest },
        {
          type: 'message',
          role: 'assistant',
          model: 'clarke-1.0',
          stop_reason: 'end_turn',
          stop_sequence: null,
          stop_details: null,
          container: null,
          diagnostics: null,
        },
      )
      deepEqual(
        content.map(({ type }) => type),
        ['text'],
      )
      ok(usage.input_tokens > 0 && usage.output_tokens > 0)
      equal(usage.service_tier, 'standard')
      equal(usage.cache_creation_input_tokens, 0)
    })

    test('tokens that come from the cache are counted as such', async () => {
      // Long enough that no answer behind it is worth more than it is.
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello there. '.repeat(100) }]
      const { usage } = await createWith({ messages, max_tokens: 100 })
      const { usage: again } = await createWith({ messages, max_tokens: 100 })
      deepEqual([again.input_tokens, again.cache_read_input_tokens], [1, inputOf(usage) - 1])
      equal(again.cache_creation_input_tokens, 0)
    })

    test('the stream helper gives signed thinking, then text', async () => {
      const stream = connect().messages.stream({
        ...least,
        model: 'hal-1.0',
        max_tokens: 2_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
      })
      const pieces = { thinking: '', text: '', signature: '' }
      stream.on('thinking', (piece) => (pieces.thinking += piece))
      stream.on('text', (piece) => (pieces.text += piece))
      stream.on('signature', (signature) => (pieces.signature = signature))
      const { content, usage, stop_reason: reason } = await stream.finalMessage()
      const [thinking, text] = content
      ok(thinking?.type === 'thinking' && text?.type === 'text' && content.length === 2)
      match(thinking.signature, /^[A-Za-z0-9+/=_-]{16,}$/)
      deepEqual(pieces, { thinking: thinking.thinking, text: text.text, signature: thinking.signature })
      equal(reason, 'end_turn')
      ok((usage.output_tokens_details?.thinking_tokens ?? 0) > 0)
      equal(await recorded.checkStreams(), 1)
    })

    test('omitted thinking is a signature alone', async () => {
      const thinking = { type: 'adaptive', display: 'omitted' } as const
      const stream = connect().messages.stream({ ...least, model: 'hal-1.0', thinking })
      const block = (await stream.finalMessage()).content[0]
      ok(block?.type === 'thinking')
      equal(block.thinking, '')
      notEqual(block.signature, '')
      equal(await recorded.checkStreams(), 1)
    })

    test('a thinking block may be sent back, tampered with or not', async () => {
      const first = await createWith({ model: 'hal-1.0' })
      const block = first.content[0]
      ok(block?.type === 'thinking')
      const replay = async (signature: string) => {
        const content = first.content.with(0, { ...block, signature }) as Anthropic.ContentBlockParam[]
        const messages: Anthropic.MessageParam[] = [
          ...hello,
          { role: 'assistant', content },
          { role: 'user', content: 'And now?' },
        ]
        const { input_tokens: counted } = await connect().messages.countTokens({ model: 'hal-1.0', messages })
        const second = await createWith({ model: 'hal-1.0', messages })
        equal(second.stop_reason, 'end_turn')
        equal(inputOf(second.usage), counted)
        return counted
      }
      const own = await replay(block.signature)
      for (const signature of ['', 'bm90IG91cnM=', `${block.signature.slice(0, -4)}AAAA`, 'é']) {
        // Thinking of an earlier turn is not part of the prompt, so a lost signature costs nothing.
        equal(await replay(signature), own)
      }
    })

    test('a stream adds up to the answer that comes whole', async () => {
      const fields = { ...least, model: 'hal-1.0', temperature: 0 } as const
      const whole = await connect().messages.create(fields)
      const streamed = await connect().messages.stream(fields).finalMessage()
      deepEqual(streamed.content, whole.content)
      const totals = (usage: Anthropic.Usage) => [inputOf(usage), usage.output_tokens]
      deepEqual(totals(streamed.usage), totals(whole.usage))
      equal(streamed.usage.input_tokens, 1, 'all but the last token is there already')
      equal(streamed.stop_reason, whole.stop_reason)
      equal(await recorded.checkStreams(), 1)
    })

    test('a raw stream may be left', async () => {
      const messages = longMessages(16_000)
      const { data: stream, request_id: requestId } = await connect()
        .messages.create({ ...least, messages, stream: true })
        .withResponse()
      const types: string[] = []
      for await (const event of stream) {
        types.push(event.type)
        stream.controller.abort()
      }
      deepEqual(types, ['message_start'])
      const row = await until(
        () => service.ledger().find(({ request_id: id }) => id === requestId),
        'The ledger has no row.',
      )
      deepEqual([row.outcome, row.output], ['aborted', 0])
    })

    test('a count is what the same request is charged', async () => {
      const conversations: Pick<Anthropic.MessageCreateParamsNonStreaming, 'model' | 'messages' | 'system'>[] = [
        { model: 'clarke-1.0', messages: hello },
        { model: 'hal-1.0', messages: hello, system: 'Be brief. äöü 你好 🦉' },
        {
          model: 'tycho-1.0',
          system: [
            { type: 'text', text: 'One.' },
            { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral' } },
          ],
          messages: [
            ...hello,
            { role: 'assistant', content: 'Hello!' },
            { role: 'user', content: [{ type: 'text', text: 'Again' }] },
          ],
        },
      ]
      for (const conversation of conversations) {
        const { input_tokens: counted } = await connect().messages.countTokens(conversation)
        const { usage } = await createWith({ ...conversation, max_tokens: 5 })
        equal(inputOf(usage), counted)
      }
    })

    test('models are listed page by page and found one by one', async () => {
      const ids: string[] = []
      for await (const model of connect().models.list({ limit: 2 })) {
        ids.push(model.id)
        equal(model.type, 'model')
        deepEqual(
          { ...(await connect().models.retrieve(model.id)), _request_id: null },
          { ...model, _request_id: null },
        )
      }
      deepEqual(ids, ['clarke-1.0', 'hal-1.0', 'tycho-1.0'])
      const pages = recorded.requests.filter(({ url }) => new URL(url).pathname === '/v1/models')
      deepEqual(
        pages.map(({ url }) => new URL(url).searchParams.get('after_id')),
        [null, 'hal-1.0'],
      )
      const before = await connect().models.list({ limit: 1, before_id: 'tycho-1.0' })
      deepEqual([before.data[0]?.id, before.has_more], ['hal-1.0', true])
    })

    test('the key goes in either header', async () => {
      const asKey = connect()
      const asToken = connectWith({ apiKey: null, authToken: service.key })
      for (const client of [asKey, asToken]) equal((await client.messages.create(least)).type, 'message')
      const sent = recorded.requests.map(({ headers }) => [headers.has('authorization'), headers.has('x-api-key')])
      equal(sent[0]?.filter(Boolean).length, 1)
      deepEqual(sent[1], [true, false])
    })

    test('the beta namespace works', async () => {
      const { beta } = connect()
      const fields = { ...least, betas: ['context-management-2025-06-27', 'made-up-2026-01-01'] }
      const managed = await beta.messages.create({ ...fields, context_management: { edits: [] } })
      deepEqual(managed.context_management, { applied_edits: [] })
      const streamed = await beta.messages.stream({ ...least, model: 'hal-1.0' }).finalMessage()
      equal(streamed.content[0]?.type, 'thinking')
      ok((await beta.messages.countTokens({ model: 'clarke-1.0', messages: hello })).input_tokens > 0)
      equal((await beta.models.retrieve('hal-1.0')).id, 'hal-1.0')
      equal(await recorded.checkStreams(), 1)
      equal(recorded.requests.length, 4)
    })

    const failure = async (asking: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
      let caught: unknown
      await rejects(asking, (error) => {
        caught = error
        return true
      })
      ok(caught instanceof Client.APIError, String(caught))
      return caught
    }

    type Body = { readonly type: string; readonly error: { readonly type: string; readonly message: string } }
    const bodyOf = (error: { readonly error: unknown }) => error.error as Body

    test('errors have the classes of the library and are not retried', async () => {
      const wrongKey = await failure(connect('sk-wrong-0123456789').messages.create(least))
      ok(wrongKey instanceof Client.AuthenticationError)
      equal(bodyOf(wrongKey).error.type, 'authentication_error')
      match(wrongKey.requestID ?? '', requestIdPattern)
      const unknown = await failure(createWith({ model: 'claude-sonnet-5' }))
      ok(unknown instanceof Client.NotFoundError)
      match(bodyOf(unknown).error.message, /^model: claude-sonnet-5/)
      const missing = await failure(connect().models.retrieve('nothing'))
      ok(missing instanceof Client.NotFoundError)
      const invalid = await failure(createWith({ temperature: 2 }))
      ok(invalid instanceof Client.BadRequestError)
      match(bodyOf(invalid).error.message, /^temperature: /)
      const batches = await failure(connect().messages.batches.list() as unknown as Promise<unknown>)
      ok(batches instanceof Client.NotFoundError)
      for (const error of [wrongKey, unknown, missing, invalid, batches]) equal(bodyOf(error).type, 'error')
      equal(recorded.requests.length, 5)
    })

    test('a stream that is refused is refused before it begins', async () => {
      const error = await failure(
        connect()
          .messages.stream({ ...least, temperature: 2 })
          .finalMessage(),
      )
      equal(error.status, 400)
    })

    test('a stop sequence is reported and left out', async () => {
      const fields = { temperature: 0 } as const
      const block = (await createWith(fields)).content[0]
      ok(block?.type === 'text')
      const stop = block.text.split(' ')[2]!
      const stopped = await createWith({ ...fields, stop_sequences: ['never said', stop] })
      deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', stop])
      const shown = stopped.content.map((content) => (content.type === 'text' ? content.text : '')).join('')
      equal(shown, block.text.slice(0, block.text.indexOf(stop)))
    })

    test('a full answer says so', async () => {
      const answer = await createWith({ max_tokens: 3 })
      deepEqual([answer.stop_reason, answer.usage.output_tokens], ['max_tokens', 3])
    })

    test('a budget as large as the answer is no fault', async () => {
      const thinking = { type: 'enabled', budget_tokens: 32_000 } as const
      const message = await connect()
        .messages.stream({ ...least, max_tokens: 32_000, thinking })
        .finalMessage()
      equal(message.stop_reason, 'end_turn')
      equal(message.content[0]?.type, 'thinking')
    })

    test('a thread is refused the one way that clients recover from', async () => {
      const error = await failure(connect().post('/v1/messages', { body: { ...least, thread: { type: 'create' } } }))
      equal(error.status, 400)
      const body = error.error as { error: { type: string; message: string; details: unknown } }
      equal(body.error.type, 'invalid_request_error')
      match(body.error.message, /^thread:/)
      deepEqual(body.error.details, { error_code: 'thread_unsupported_request', unsupported: ['thread'] })
      equal(recorded.requests.length, 1)
    })
  })
}
