// A real llama-server as the replica.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { checkStream } from '../../../src/core/check-stream.ts'
import { collect } from '../../../src/core/collect.ts'
import { countTokens, runAlone, type Engine } from '../../../src/core/engine.ts'
import { ApiError } from '../../../src/core/error.ts'
import { inputTokens, type EngineRequest, type Tool } from '../../../src/core/generation.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { PoolEngine } from '../../../src/models/fleet/pools/pool-engine.ts'
import { createRandom } from '../../campaigns/random.ts'
import { launchLlamaServer, type LlamaServer } from '../../harness/engines/llama-server.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { llamaServer } from '../../harness/programs/llama-server.ts'
import { findProgram } from '../../harness/programs/program.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

const { path, skip } = findProgram(llamaServer)
const never = new AbortController().signal
const tool: Tool = {
  name: 'look_up',
  description: 'Looks something up.',
  parameters: {
    type: 'object',
    properties: { word: { type: 'string', maxLength: 12 }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['word', 'count'],
  },
  isStrict: true,
  schemaPath: ['tools', 0],
  input: 'json',
}

describe('a pool of a real llama-server', { skip }, () => {
  let server: LlamaServer
  let engine: PoolEngine

  before(async () => {
    server = await launchLlamaServer(path, ['-m', placeholderPath, '-c', '4096', '-np', '2', '--no-webui'])
    // Its answers take as long as they take: the fast clock of the stand-ins would give it up after seconds.
    engine = await openPool([server], { clock: systemClock })
  })
  after(async () => {
    await engine.close()
    await server.stop()
  })

  const run = (changes: Partial<EngineRequest>) =>
    collect(checkStream(runAlone(engine, engineRequest({ outputTokensMax: 60, ...changes }), never)))

  it('counts each prompt as the server does', async () => {
    const words = ['small', '<|im_end|>', '😀', '日本', '{"a":1}', '\n\n', '<tool_call>', '  ', 'é', '\u0001']
    for (let number = 0; number < 60; number++) {
      const random = createRandom(7, number)
      const text = Array.from({ length: random.integer(1, 40) }, () => random.pick(words)).join(random.pick(['', ' ']))
      const changes: Partial<EngineRequest> = {
        messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
        tools: random.chance(0.3) ? [tool] : [],
        thinking: random.chance(0.5) ? { kind: 'on', tokensMax: random.pick([null, 3]) } : { kind: 'off' },
        sampling: withSeed(number),
        outputTokensMax: random.integer(1, 12),
      }
      const counted = await countTokens(engine, engineRequest(changes), never)
      equal(inputTokens((await run(changes)).usage), counted, JSON.stringify(text))
    }
  })

  // These weights have not learned characters of several bytes, and the server takes spellings that are none for them: an
  // answer with such bytes ends with an error.
  const attempt = async (changes: Partial<EngineRequest>) => {
    try {
      return await run({ outputTokensMax: 200, ...changes })
    } catch (error) {
      ok(error instanceof ApiError && error.code === 'engine-failed', String(error))
      return null
    }
  }

  it('writes calls and schemas that hold, or an error, with and without thinking, whatever the seed', async () => {
    const properties = { city: { type: 'string', maxLength: 9 } }
    const schema = { type: 'object', properties, required: ['city'], additionalProperties: false }
    let whole = 0
    for (let seed = 0; seed < 20; seed++) {
      const thinking = seed % 2 === 0 ? ({ kind: 'off' } as const) : ({ kind: 'on', tokensMax: 6 } as const)
      const sampling = withSeed(seed)
      const toolChoice = { kind: 'required', parallel: false, allowed: null } as const
      const called = await attempt({ tools: [tool], toolChoice, thinking, sampling })
      const call = called?.blocks.at(-1)
      if (called !== null) {
        ok(call?.kind === 'tool-call', JSON.stringify(called))
        const { word, count } = JSON.parse(call.text) as { word: string; count: number }
        ok([...word].length <= 12 && count >= 1 && count <= 9 && !word.includes('\ufffd'), call.text)
        equal(called.reason.kind, 'tool-calls')
        whole += 1
      }
      const output = { kind: 'json', schema, schemaPath: [], isStrict: true } as const
      const text = (await attempt({ output, thinking, sampling }))?.blocks.at(-1)?.text ?? '{"city":""}'
      equal(typeof (JSON.parse(text) as { city: unknown }).city, 'string', text)
    }
    ok(whole >= 10, `${whole} of 20`)
  })

  it('is not taken by a client that asks for bytes of which no character comes', async () => {
    const schema = { type: 'string' }
    const tokens = [201, 207, 214, 221, 228]
    for (const [token, logprobsTop] of tokens.flatMap((id) => [[id, null] as const, [id, 1] as const])) {
      const sampling = { ...withSeed(1), logitBias: [[token, 100] as const] }
      const answer = await attempt({
        output: { kind: 'json', schema, schemaPath: [], isStrict: true },
        sampling,
        logprobsTop,
        outputTokensMax: 40,
      })
      ok(answer === null || answer.usage.output > 0)
      equal(engine.replicas[0]?.health.state, 'up', String(token))
    }
  })

  it('ends an answer for its limit where that falls within a character', async () => {
    const { reader } = await openPlaceholderModel()
    for (const start of [[0xc3], [0xe6], [0xf0]]) {
      const token = reader.tokenOf(Uint8Array.from(start))
      ok(token !== undefined)
      const { blocks, usage, reason } = await run({
        sampling: { ...withSeed(1), logitBias: [[token, 100]] },
        outputTokensMax: 1,
      })
      deepEqual([reason.kind, usage.output, blocks.map(({ text }) => text).join('')], ['length', 1, ''], String(start))
    }
  })

  it('gives every token of characters that are made of several', async () => {
    const schema = { type: 'string', enum: ['😀😀', '😂 and 😀'] }
    for (let seed = 0; seed < 6; seed++) {
      const output = { kind: 'json', schema, schemaPath: [], isStrict: true } as const
      const { blocks } = await run({ output, sampling: withSeed(seed) })
      ok(schema.enum.includes(JSON.parse(blocks.at(-1)?.text ?? '') as string), JSON.stringify(blocks))
    }
  })

  it('gives log-probabilities of each part of such a character, as the embedded engine does', async () => {
    const schema = { type: 'string', enum: ['😀é😀'] }
    const output = { kind: 'json', schema, schemaPath: [], isStrict: true } as const
    const request = engineRequest({ output, logprobsTop: 3, sampling: withSeed(1, 0), outputTokensMax: 60 })
    const tokensOf = async (one: Engine) =>
      (await Array.fromAsync(runAlone(one, request, never))).flatMap((event) =>
        event.type === 'delta' ? (event.logprobs ?? []) : [],
      )
    const embedded = openLlama({ slots: 1 })
    const expected = await tokensOf(embedded)
    await embedded.close()
    const found = await tokensOf(engine)
    deepEqual(
      found.map(({ bytes }) => Buffer.from(bytes).toString('hex')),
      expected.map(({ bytes }) => Buffer.from(bytes).toString('hex')),
    )
    ok(found.some(({ bytes }) => bytes[0] === 0xf0 && bytes.length < 4))
    for (const [at, { logprob, top }] of found.entries()) {
      ok(Math.abs(logprob - (expected[at]?.logprob ?? 9)) < 0.05, `${at}: ${logprob}, ${expected[at]?.logprob}`)
      equal(top.length, 3)
    }
  })

  it('reports what was cached, and nothing of it across organizations', async () => {
    const text = 'Some words that are said in the same way, again and again. '.repeat(12)
    const ask = (organizationId: string) =>
      run({
        messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
        owner: { organizationId, apiKeyId: 'k' },
        outputTokensMax: 2,
      })
    const first = await ask('org_one')
    const again = await ask('org_one')
    ok(again.usage.inputCacheRead > inputTokens(again.usage) * 0.9, JSON.stringify([first.usage, again.usage]))
    deepEqual(
      [
        first.usage.inputCacheRead,
        (await ask('org_two')).usage.inputCacheRead,
        (await ask('org_three')).usage.inputCacheRead,
      ],
      [0, 0, 0],
    )
  })

  it('gives log-probabilities for each token', async () => {
    const events = await Array.fromAsync(
      runAlone(engine, engineRequest({ logprobsTop: 2, outputTokensMax: 8, sampling: withSeed(1, 0) }), never),
    )
    const tokens = events.flatMap((event) => (event.type === 'delta' ? (event.logprobs ?? []) : []))
    ok(tokens.length > 4 && tokens.every(({ logprob, top }) => logprob <= 0 && top.length === 2))
  })
})
