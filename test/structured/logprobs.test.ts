// What is said of the tokens' probabilities: their bytes are the text's, and they are probabilities.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, bodyFor, paths } from '../harness/http/ask.ts'
import { checkStream, readFrames } from '../harness/http/open-stream.ts'
import { startService, type Service } from '../harness/start-service.ts'

type Token = { readonly token: string; readonly bytes: readonly number[]; readonly logprob: number }
type Entry = Token & { readonly top_logprobs: readonly Token[] }
type Logprobs = { readonly content: readonly Entry[]; readonly refusal: null } | null
type Part = { readonly content?: string | null }
type Choice = { readonly message?: Part; readonly delta?: Part; readonly logprobs: Logprobs }
type Body = { readonly choices: readonly Choice[] }
type Fields = Readonly<Record<string, unknown>>

/** The log-probabilities are sums of rounded numbers. */
const epsilon = 1e-3

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

const anyText: Fields = {
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { enum: ['日本🙂 größe', '🏳️‍🌈é\n'] } } },
}
const cases: Readonly<Record<string, Fields>> = {
  'a plain answer': {},
  'a thinking model': { model: 'hal-1.0' },
  'a budget for thinking': { model: 'hal-1.0', reasoning: { max_tokens: 3 } },
  'a thinking model that does not': { model: 'hal-1.0', reasoning_effort: 'none' },
  'characters of several bytes': anyText,
  'characters of several bytes after thinking': { ...anyText, model: 'hal-1.0' },
  JSON: { response_format: { type: 'json_object' }, model: 'tycho-1.0' },
  'a high temperature': { temperature: 2 },
  'a stop sequence within a token': { stop: ['ee', 'l w'] },
  'a stop sequence over several tokens': { stop: [' real weights', 'not understand'] },
  'a stop sequence that is kept': { stop: ['a', 'e'], include_stop_str_in_output: true },
  'a stop sequence after thinking': { model: 'hal-1.0', stop: ['l', 'documentation'] },
  'tools that are not called': { tools: [{ type: 'function', function: { name: 'f' } }] },
  'tools that are called': { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' },
  penalties: { frequency_penalty: 2, presence_penalty: 1, repetition_penalty: 1.3 },
  'a prefill': {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'I am ü' },
    ],
    continue_final_message: true,
    add_generation_prompt: false,
  },
}

async function answersTo(fields: Fields): Promise<Choice[]> {
  const body = bodyFor('chat', { max_tokens: 300, logprobs: true, ...fields })
  const whole = await ask(service, paths.chat, { body })
  equal(whole.status, 200, whole.text.slice(0, 300))
  const streamed = await ask(service, paths.chat, { body: { ...body, stream: true } })
  equal(streamed.status, 200, streamed.text.slice(0, 300))
  checkStream('chat', streamed.text)
  return [...(whole.json() as Body).choices, joinChunks(streamed.text)]
}

/** A stream as the choice it adds up to; each of its chunks has the tokens of its own text. */
function joinChunks(text: string): Choice {
  let content = ''
  const entries: Entry[] = []
  for (const { data } of readFrames(text)) {
    if (data === '[DONE]') continue
    const [choice] = (JSON.parse(data) as Body).choices
    const piece = choice?.delta?.content ?? ''
    content += piece
    equal(bytesOf(choice?.logprobs?.content ?? []).toString(), piece, 'a chunk has the tokens of its own text')
    entries.push(...(choice?.logprobs?.content ?? []))
  }
  return { message: { content }, logprobs: { content: entries, refusal: null } }
}

function bytesOf(entries: readonly Token[]): Buffer {
  return Buffer.from(entries.flatMap(({ bytes }) => bytes))
}

function checkEntry(entry: Entry, top: number): void {
  for (const { token, bytes, logprob } of [entry, ...entry.top_logprobs]) {
    ok(logprob <= 0 && Number.isFinite(logprob), `${logprob} is no log-probability`)
    ok(bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256))
    equal(token, Buffer.from(bytes).toString(), 'the token is its bytes')
  }
  const logprobs = entry.top_logprobs.map(({ logprob }) => logprob)
  equal(logprobs.length, top)
  deepEqual(
    logprobs,
    logprobs.toSorted((left, right) => right - left),
    'the likeliest come first',
  )
  const sum = logprobs.reduce((total, logprob) => total + Math.exp(logprob), 0)
  ok(sum <= 1 + epsilon, `the probabilities sum up to ${sum}`)
  // The chosen token is among the likeliest, or less likely than each of them.
  if (top > 0)
    ok(logprobs.some((logprob) => logprob === entry.logprob) || entry.logprob <= (logprobs.at(-1) ?? 0) + epsilon)
}

for (const [name, fields] of Object.entries(cases)) {
  test(`the bytes are the text's: ${name}`, async () => {
    for (const top of [0, 1, 5, 20]) {
      for (const { message, logprobs } of await answersTo({ ...fields, top_logprobs: top })) {
        const content = message?.content ?? ''
        equal(bytesOf(logprobs?.content ?? []).toString(), content)
        equal(logprobs?.refusal ?? null, null)
        for (const entry of logprobs?.content ?? []) checkEntry(entry, top)
      }
    }
  })
}

describe('probabilities', () => {
  test('the most likely token is taken at no temperature', async () => {
    for (const { logprobs } of await answersTo({ temperature: 0, top_logprobs: 2 })) {
      for (const { logprob, top_logprobs: top } of logprobs?.content ?? []) equal(logprob, top[0]?.logprob)
    }
  })

  test('probabilities are the model’s own, whatever the sampling', async () => {
    const first = async (fields: Fields) => {
      const [choice] = await answersTo({ max_tokens: 1, top_logprobs: 20, ...fields })
      return choice?.logprobs?.content[0]?.top_logprobs.map(({ bytes, logprob }) => [bytes.join(), logprob.toFixed(4)])
    }
    const plain = await first({ temperature: 0 })
    for (const fields of [
      { temperature: 2 },
      { top_p: 0.1 },
      { top_k: 1 },
      { min_p: 0.9 },
      { logit_bias: { '100': 100 } },
    ]) {
      deepEqual(await first(fields), plain, JSON.stringify(fields))
    }
  })

  test('none are given unless asked for', async () => {
    for (const fields of [{}, { logprobs: false }, { logprobs: null }]) {
      const answer = await ask(service, paths.chat, { body: bodyFor('chat', fields) })
      equal((answer.json() as Body).choices[0]?.logprobs, null)
    }
  })
})
