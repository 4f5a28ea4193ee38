import { runAlone } from '../../src/core/engine.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkStream } from '../../src/core/check-stream.ts'
import { collect, type Generation } from '../../src/core/collect.ts'
import { ApiError } from '../../src/core/error.ts'
import type { EngineRequest, Tool } from '../../src/core/generation.ts'
import { loadNative } from '../../src/engines/llama/child/native.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'

// The placeholder weights never call a tool of their own accord. A bias on the token
// that announces a call makes them begin one; the grammar has to do the rest.

const never = new AbortController().signal
let engine: LlamaEngine
let callToken = -1
let thinkToken = -1

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

before(async () => {
  engine = openLlama()
  const native = await loadVocabulary()
  callToken = native.vocabulary.tokenize('<tool_call>', true)[0] ?? -1
  thinkToken = native.vocabulary.tokenize('<think>', true)[0] ?? -1
})
after(() => engine.close())

const run = (changes: Partial<EngineRequest>): Promise<Generation> =>
  collect(checkStream(runAlone(engine, engineRequest(changes), never)))

function loadVocabulary() {
  return loadNative({
    weightsPath: placeholderPath,
    gpu: 'off',
    slots: 1,
    windowTokensMax: 512,
    threads: 1,
    batchTokens: 32,
    isReproducible: false,
    draftTokensMax: 0,
    cacheBytesMax: 0,
    cacheOnDisk: null,
  })
}

function requireCall({ blocks, reason }: Generation): void {
  const call = blocks.at(-1)
  assert.ok(call?.kind === 'tool-call' && call.name === 'look_up', JSON.stringify(blocks))
  const { word, count } = JSON.parse(call.text) as { word: unknown; count: unknown }
  assert.ok(typeof word === 'string' && Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 9)
  assert.equal(reason.kind, 'tool-calls')
}

test('a call that the model begins by itself follows the schema to its end', async () => {
  for (const seed of [1, 2, 3, 4]) {
    const sampling = { ...withSeed(seed), logitBias: [[callToken, 100] as const] }
    const toolChoice = { kind: 'auto', parallel: false, allowed: null } as const
    const answer = await run({ tools: [tool], toolChoice, sampling })
    requireCall(answer)
    assert.equal(answer.blocks.length, 1)
  }
})

test('a call may be begun in the midst of a text, which stays a text before it', async () => {
  // How strong a bias must be to be followed now and then is the weights' affair.
  for (let attempt = 0; attempt < 120; attempt++) {
    const sampling = { ...withSeed(attempt), logitBias: [[callToken, 4 + (attempt % 12)] as const] }
    const answer = await run({ tools: [tool], sampling })
    if (answer.blocks.length < 2) continue
    assert.equal(answer.blocks[0]?.kind, 'text')
    assert.ok(!answer.blocks[0].text.includes('<tool'))
    requireCall(answer)
    return
  }
  assert.fail('No answer had a text and a call.')
})

test('where no call is wanted none is begun', async () => {
  const sampling = { ...withSeed(1), logitBias: [[callToken, 100] as const] }
  const answer = await run({ tools: [tool], toolChoice: { kind: 'none', parallel: true, allowed: null }, sampling })
  assert.ok(answer.blocks.every(({ kind, text }) => kind === 'text' && !text.includes('<tool_call>')))
})

test('where thinking is off or over, no thoughts are begun that would be read as the answer', async () => {
  const sampling = { ...withSeed(1), logitBias: [[thinkToken, 100] as const] }
  const off = await run({ sampling })
  assert.ok(off.blocks.every(({ kind, text }) => kind === 'text' && !text.includes('<think>')))
  const over = await run({ sampling, thinking: { kind: 'on', tokensMax: 5 } })
  const answers = over.blocks.filter(({ kind }) => kind === 'text')
  assert.ok(answers.length > 0 && answers.every(({ text }) => !text.includes('<think>')))
})

test('thinking goes before a forced call, however short its budget is', async () => {
  for (const tokensMax of [null, 1, 5]) {
    const toolChoice = { kind: 'named', name: 'look_up', parallel: false } as const
    // Without a budget the thoughts are over when the weights say so, which by chance may take hundreds of tokens.
    const most = { outputTokensMax: 4_000, sampling: withSeed(1) }
    const answer = await run({ tools: [tool], toolChoice, thinking: { kind: 'on', tokensMax }, ...most })
    assert.deepEqual(
      answer.blocks.map(({ kind }) => kind),
      ['thinking', 'tool-call'],
    )
    assert.ok(tokensMax === null || answer.usage.outputThinking <= tokensMax + 1)
    requireCall(answer)
  }
})

test('a call cut off by the limit says so', async () => {
  const toolChoice = { kind: 'required', parallel: true, allowed: null } as const
  const { reason } = await run({ tools: [tool], toolChoice, outputTokensMax: 12 })
  assert.equal(reason.kind, 'length')
})

test('a strict schema that no grammar can keep is refused with its place, a lenient one is held to JSON', async () => {
  const parameters = { type: 'object', properties: { a: { if: true, else: false } } }
  const toolChoice = { kind: 'required', parallel: false, allowed: null } as const
  await assert.rejects(run({ tools: [{ ...tool, parameters }], toolChoice }), (error) => {
    assert.ok(error instanceof ApiError && error.reason.code === 'invalid-request')
    assert.deepEqual(error.reason.path?.slice(0, 4), ['tools', 0, 'properties', 'a'])
    return true
  })
  const { blocks } = await run({
    tools: [{ ...tool, parameters, isStrict: false }],
    toolChoice,
    outputTokensMax: 2_000,
  })
  assert.ok(blocks[0]?.kind === 'tool-call')
})

test('a bias and a minimum length have their effect', async () => {
  const long = await run({ outputTokensMin: 120, outputTokensMax: 200 })
  assert.ok(long.usage.output >= 120)
  const plain = await run({ sampling: withSeed(9, 0) })
  const first = plain.blocks[0]?.text.split(' ')[0] ?? ''
  const native = await loadVocabulary()
  const banned = [...native.vocabulary.tokenize(first, false)][0] ?? 0
  const biased = await run({ sampling: { ...withSeed(9, 0), logitBias: [[banned, -100]] } })
  assert.notEqual(biased.blocks[0]?.text.split(' ')[0], first)
})

test('log-probabilities add up to the text and to no more than one', async () => {
  const { blocks } = await run({ logprobsTop: 5, sampling: withSeed(4), thinking: { kind: 'on', tokensMax: null } })
  const text = blocks.find(({ kind }) => kind === 'text')
  assert.ok(text?.logprobs)
  assert.equal(Buffer.concat(text.logprobs.map(({ bytes }) => bytes)).toString(), text.text)
  for (const { logprob, top } of text.logprobs) {
    assert.ok(logprob <= 0 && top.length === 5)
    assert.deepEqual(
      top.map((one) => one.logprob),
      top.map((one) => one.logprob).toSorted((a, b) => b - a),
    )
    assert.ok(top.reduce((sum, one) => sum + Math.exp(one.logprob), 0) <= 1.001)
  }
})
