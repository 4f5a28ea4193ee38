// Schemas that are kept as far as possible, next to those that are kept or refused.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, bodyFor, paths, type Answer, type Format } from '../harness/http/ask.ts'
import { checkError } from '../harness/check-error.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { readLog } from '../campaigns/service-log.ts'
import { validate } from '../grammar/validate.ts'
import { invalid, type Fields } from './bomb-target.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

const send = (format: Format, fields: Fields): Promise<Answer> =>
  ask(service, paths[format], { body: bodyFor(format, { max_tokens: 600, ...fields }) })

/** What can be kept of the schema below. */
const kept = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 20 }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
}
const schema = {
  ...kept,
  properties: { ...kept.properties, city: { ...kept.properties.city, pattern: '\\b[A-Z]' } },
  not: { required: ['nothing'] },
}
const responseFormat = (json: Fields): Fields => ({
  response_format: { type: 'json_schema', json_schema: { name: 'report', ...json } },
})
const tool = (strict: boolean) => ({ type: 'function', function: { name: 'look', parameters: schema, strict } })

describe('an answer of a schema', () => {
  for (const fields of [{ schema }, { schema, strict: false }]) {
    test(`keeps what can be kept of it: ${JSON.stringify(Object.keys(fields))}`, async () => {
      for (let round = 0; round < 5; round++) {
        const answer = await send('chat', responseFormat(fields))
        equal(answer.status, 200, answer.text)
        const { choices } = answer.json() as { choices: { finish_reason: string; message: { content: string } }[] }
        equal(choices[0]?.finish_reason, 'stop')
        equal(validate(kept, JSON.parse(choices[0].message.content)), null)
      }
    })
  }

  test('keeps it in a stream too', async () => {
    const answer = await send('chat', { ...responseFormat({ schema }), stream: true })
    equal(answer.status, 200, answer.text)
    const lines = answer.text.split('\n').filter((line) => line.startsWith('data: {'))
    const texts = lines.map((line) => {
      const chunk = JSON.parse(line.slice('data: '.length)) as { choices: { delta: { content?: string } }[] }
      return chunk.choices[0]?.delta.content ?? ''
    })
    equal(validate(kept, JSON.parse(texts.join(''))), null)
    ok(answer.text.trimEnd().endsWith('data: [DONE]'))
  })

  test('is refused with the keyword and its place where it is to be strict', async () => {
    for (const stream of [false, true]) {
      const param = 'response_format.json_schema.schema.not'
      const strict = await send('chat', { ...responseFormat({ schema, strict: true }), stream })
      checkError(strict, 'chat', { ...invalid, param, message: /"not" is not supported/ })
      const output = { output_config: { format: { type: 'json_schema', schema } } }
      const message = /^output_config\.format\.schema\.not: .*"not"/
      checkError(await send('messages', { ...output, stream }), 'messages', { ...invalid, message })
      checkError(await send('chat', { guided_json: schema, stream }), 'chat', { ...invalid, param: 'guided_json.not' })
    }
  })

  test('is refused in any case for its size and for its faults', async () => {
    const list = (items: Fields) => ({ type: 'array', minItems: 1_000, items })
    const inProperty = (inner: Fields) => ({ type: 'object', properties: { a: inner }, required: ['a'] })
    const refused: readonly (readonly [place: string, inner: Fields])[] = [
      ['a.minItems', list(list({ type: 'string' }))],
      ['a.minItems', { type: 'array', minItems: 1e9 }],
      ['a.enum', { enum: Array.from({ length: 1_001 }, (_, index) => index) }],
      ['a.type', { type: 'strnig' }],
    ]
    for (const strict of [true, false]) {
      for (const [place, inner] of refused) {
        const param = `response_format.json_schema.schema.properties.${place}`
        const answer = await send('chat', responseFormat({ schema: inProperty(inner), strict }))
        checkError(answer, 'chat', { ...invalid, param })
      }
    }
  })
})

describe('what is not kept of a schema', () => {
  const list = (answer: Answer) => answer.headers.get('x-odyssey-unenforced')?.split(', ') ?? null
  const left = (root: string) => [`${root}.not`, `${root}.properties.city.pattern`]

  test('is named in the head of the answer and in the log, streamed or not', async () => {
    for (const stream of [false, true]) {
      const answer = await send('chat', { ...responseFormat({ schema }), stream })
      deepEqual(list(answer), left('response_format.json_schema.schema'))
      const called = await send('chat', { tools: [tool(false)], tool_choice: 'required', stream })
      deepEqual(list(called), left('tools.0.function.parameters'))
      const id = called.headers.get('request-id')
      const isToldOf = (line: Fields) => line['request_id'] === id && line['unenforced'] === named
      const named = called.headers.get('x-odyssey-unenforced')
      await until(() => readLog(service).some(isToldOf), 'The log does not name them.')
      const choice = { tools: [{ name: 'look', input_schema: schema }], tool_choice: { type: 'any' } }
      deepEqual(list(await send('messages', { ...choice, stream })), left('tools.0.custom.input_schema'))
    }
  })

  test('is not named where all of it is kept', async () => {
    for (const stream of [false, true]) {
      equal(list(await send('chat', { ...responseFormat({ schema: kept }), stream })), null)
      equal(
        list(
          await send('messages', {
            tools: [{ name: 'look', input_schema: schema }],
            tool_choice: { type: 'none' },
            stream,
          }),
        ),
        null,
      )
    }
  })

  test('is spelled in characters that a header may have, however long the list', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`größe, ${index}`, { not: { const: index } }]),
    )
    const answer = await send('chat', responseFormat({ schema: { type: 'object', properties } }))
    equal(answer.status, 200, answer.text)
    const names = answer.headers.get('x-odyssey-unenforced') ?? ''
    ok(names.length < 2_100 && /\.gr%C3%B6%C3%9Fe%2C%20\d+\.not, \+\d+$/.test(names), names)
  })
})

describe('a tool', () => {
  test('a tool that is not strict keeps what can be kept of its schema', async () => {
    for (let round = 0; round < 5; round++) {
      const answer = await send('chat', { tools: [tool(false)], tool_choice: 'required', parallel_tool_calls: false })
      const { choices } = answer.json() as {
        choices: { message: { tool_calls: { function: { arguments: string } }[] } }[]
      }
      const [call] = choices[0]?.message.tool_calls ?? []
      equal(validate(kept, JSON.parse(call?.function.arguments ?? '')), null)
    }
  })

  test('a strict tool whose schema cannot be kept is refused, and still counted', async () => {
    const strict = await send('chat', { tools: [tool(true)] })
    checkError(strict, 'chat', { ...invalid, param: 'tools[0].function.parameters.not' })
    const body = bodyFor('messages', { tools: [{ name: 'look', input_schema: schema, strict: true }] })
    const count = await ask(service, '/v1/messages/count_tokens', { body })
    equal(count.status, 200, count.text)
  })

  test('is counted as it is computed, whatever must be called', async () => {
    const tools = [{ name: 'look', input_schema: kept }]
    for (const toolChoice of ['auto', 'any', 'none'].map((type) => ({ type }))) {
      for (const thinking of [{ type: 'disabled' }, { type: 'enabled', budget_tokens: 1_024 }]) {
        const fields = { tools, tool_choice: toolChoice, thinking, max_tokens: 1_100 }
        const count = await ask(service, '/v1/messages/count_tokens', { body: bodyFor('messages', fields) })
        const answer = await send('messages', fields)
        const { usage } = answer.json() as { usage: Record<'input_tokens' | 'cache_read_input_tokens', number> }
        deepEqual(count.json(), { input_tokens: usage.input_tokens + usage.cache_read_input_tokens })
      }
    }
  })
})

/** How many tokens the placeholder weights have. */
const placeholderTokens = 827

describe('a bias', () => {
  test('on a token that does not exist is answered as one on a token that does', async () => {
    // The edge is what would tell how many there are.
    for (const token of [placeholderTokens - 1, placeholderTokens, placeholderTokens + 1, 999_999_999]) {
      for (const fields of [{}, { stream: true }, { n: 3 }, { n: 3, stream: true }]) {
        equal((await send('chat', { logit_bias: { '5': 1, [token]: 0.5 }, ...fields })).status, 200, String(token))
      }
    }
    equal((await send('chat', { logit_bias: { '0': 1, '5': -100 } })).status, 200)
  })

  test('on a token that does not exist has no effect', async () => {
    const content = async (bias: Record<string, number>) => {
      const { choices } = (await send('chat', { logit_bias: bias, temperature: 0 })).json() as {
        choices: { message: { content: string } }[]
      }
      return choices[0]?.message.content
    }
    equal(await content({ '5': 1, [placeholderTokens]: 100 }), await content({ '5': 1 }))
  })

  test('on what is no number of a token is refused, by a bound that no weights set', async () => {
    const answer = await send('chat', { logit_bias: { '5': 1, '1000000000': 1 } })
    checkError(answer, 'chat', { ...invalid, param: 'logit_bias.1000000000', code: 'invalid_value' })
  })
})
