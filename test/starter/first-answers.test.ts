import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service
let openai: OpenAI
let anthropic: Anthropic

before(async () => {
  service = await startService({ weights: 'built-in' })
  openai = new OpenAI({ baseURL: `${service.address}/v1`, apiKey: service.key })
  anthropic = new Anthropic({ baseURL: service.address, apiKey: service.key })
})
after(() => service.stop())

/** It looks after its children, its database and its own delays some forty times a second. */
const sleepsASecondMax = 70

/** The library's types no longer know the setting; the service does. */
const greedy: object = { temperature: 0 }
const sum = 'What is 47 + 85?'
const weather = {
  name: 'get_weather',
  description: 'Get the current weather of a city.',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string', description: 'The name of the city.' } },
    required: ['city'],
  },
}
const asked = 'What is the weather in Paris?'
const result = '{"temperature":18,"condition":"sunny"}'

suite('what comes with Odyssey answers', () => {
  test('a sum with its working in the thinking, in chat completions', async () => {
    const { choices } = await openai.chat.completions.create({
      model: 'hal-1.0',
      temperature: 0,
      messages: [{ role: 'user', content: sum }],
    })
    const message = choices[0]?.message as { content: string; reasoning_content?: string }
    match(message.content, /132/)
    match(message.reasoning_content ?? '', /47.*85/)
  })

  test('a sum with its working in the thinking, in messages', async () => {
    const { content } = await anthropic.messages.create({
      model: 'hal-1.0',
      max_tokens: 500,
      ...greedy,
      messages: [{ role: 'user', content: sum }],
    })
    deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'text'],
    )
    ok(content[1]?.type === 'text')
    match(content[1].text, /132/)
  })

  test('with a call of a tool and from its result, in chat completions', async () => {
    const tools = [{ type: 'function' as const, function: { ...weather, parameters: weather.schema } }]
    const question = { role: 'user' as const, content: asked }
    const settings = { model: 'clarke-1.0', temperature: 0, tools }
    const first = await openai.chat.completions.create({ ...settings, messages: [question] })
    const message = first.choices[0]?.message
    const call = message?.tool_calls?.[0]
    ok(message !== undefined && call?.type === 'function')
    equal(call.function.name, 'get_weather')
    deepEqual(JSON.parse(call.function.arguments), { city: 'Paris' })
    const answer = { role: 'tool' as const, tool_call_id: call.id, content: result }
    const last = await openai.chat.completions.create({ ...settings, messages: [question, message, answer] })
    const text = last.choices[0]?.message.content ?? ''
    match(text, /18/)
    match(text, /sunny/)
  })

  test('with a call of a tool and from its result, in messages', async () => {
    const { schema: input_schema, name, description } = weather
    const settings = {
      model: 'clarke-1.0',
      max_tokens: 500,
      ...greedy,
      tools: [{ name, description, input_schema }],
    }
    const question = { role: 'user' as const, content: asked }
    const first = await anthropic.messages.create({ ...settings, messages: [question] })
    equal(first.stop_reason, 'tool_use')
    const call = first.content.find(({ type }) => type === 'tool_use')
    ok(call?.type === 'tool_use')
    deepEqual([call.name, call.input], ['get_weather', { city: 'Paris' }])
    const turn = { role: 'assistant' as const, content: first.content }
    const answer = {
      role: 'user' as const,
      content: [{ type: 'tool_result' as const, tool_use_id: call.id, content: result }],
    }
    const last = await anthropic.messages.create({ ...settings, messages: [question, turn, answer] })
    const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    match(text, /18/)
    match(text, /sunny/)
  })

  test('an extraction with JSON that keeps its schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, email: { type: 'string' } },
      required: ['name', 'email'],
      additionalProperties: false,
    }
    const { choices } = await openai.chat.completions.create({
      model: 'tycho-1.0',
      temperature: 0,
      messages: [
        { role: 'user', content: 'Extract the name and the email: Anna Berg has the address anna@example.com.' },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'contact', strict: true, schema } },
    })
    deepEqual(JSON.parse(choices[0]?.message.content ?? ''), { name: 'Anna Berg', email: 'anna@example.com' })
  })

  test('what it was not made for with one honest sentence, by the name it was asked under', async () => {
    const ask = async (model: string, content: string) => {
      const messages = [{ role: 'user' as const, content }]
      const { choices } = await openai.chat.completions.create({ model, temperature: 0, messages })
      return choices[0]?.message.content ?? ''
    }
    const poem = await ask('clarke-1.0', 'Write a poem about the sea.')
    match(poem, /small built-in model/)
    match(poem, /odyssey models pull/)
    for (const model of ['hal-1.0', 'clarke-1.0', 'tycho-1.0']) {
      match(await ask(model, 'Hello!'), new RegExp(RegExp.escape(model)))
    }
  })

  test('the last turn of a prompt of 32,768 tokens', async () => {
    const content = `${'The working folder is /home/ada/site. Read a file before changing it. '.repeat(2_100)}\n\n${sum}`
    const { usage, choices } = await openai.chat.completions.create({
      model: 'clarke-1.0',
      temperature: 0,
      messages: [
        { role: 'system', content: content.slice(0, -sum.length) },
        { role: 'user', content: sum },
      ],
    })
    ok((usage?.prompt_tokens ?? 0) > 32_768, String(usage?.prompt_tokens))
    match(choices[0]?.message.content ?? '', /132/)
  })
})

test(
  'a service that is asked nothing leaves the processors to others',
  { skip: process.platform !== 'linux' },
  async () => {
    // On a busy machine it is kept waiting, and sleeps less often.
    const sleeps = () => {
      const status = readFileSync(`/proc/${service.pid}/task/${service.pid}/status`, 'utf8')
      return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])
    }
    const [before, startedMs] = [sleeps(), performance.now()]
    await setTimeout(3_000)
    const aSecond = (1_000 * (sleeps() - before)) / (performance.now() - startedMs)
    ok(aSecond > 0 && aSecond < sleepsASecondMax, `It went to sleep ${aSecond.toFixed(0)} times a second.`)
  },
)
