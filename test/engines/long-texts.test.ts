// Texts that are long or strange are made into tokens beside the engine, which none of them holds up or ends.

import { runAlone, countTokens } from '../../src/core/engine.ts'
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { getPriority } from 'node:os'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { ApiError } from '../../src/core/error.ts'
import { GenerationAborted, type EngineRequest } from '../../src/core/generation.ts'
import { loadText } from '../../src/engines/llama/child/native.ts'
import { createTextTools } from '../../src/engines/text/text-tools.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { backgroundPriority } from '../../src/lib/system/processor-priority.ts'
import { madeGguf } from '../harness/engines/made-gguf.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal
let engine: LlamaEngine

before(() => {
  engine = openLlama({ windowTokensMax: 4_096 })
})
after(() => engine.close())

const asking = (text: string, apiKeyId = 'key_test') =>
  engineRequest({ messages: [user(text)], owner: { organizationId: `org_of_${apiKeyId}`, apiKeyId } })

const isCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

test('a text that ends the process it is counted in ends neither the engine nor an answer', async () => {
  const { pid } = engine
  const running = collect(runAlone(engine, engineRequest({ sampling: withSeed(1, 0), outputTokensMax: 60 }), never))
  const counted = countTokens(engine, asking('One of many words. '.repeat(200_000)), never)
  await until(() => engine.countPid !== null, 'No process for counts is started.')
  const told = rejects(counted, isCode('engine-failed'))
  await countTokens(engine, asking('A short one.', 'key_other'), never)
  const first = engine.countPid
  ok(first !== null)
  process.kill(first, 'SIGKILL')
  await told
  ok((await running).usage.output > 0)
  ok((await countTokens(engine, asking('Hello.'), never)) > 0)
  ok(engine.countPid !== null && engine.countPid !== first)
  if (pid !== null) equal(engine.pid, pid)
})

test('a prompt that was prepared beside the engine is the one that is counted', async () => {
  const request: EngineRequest = { ...asking('Some words to read on. '.repeat(500)), outputTokensMax: 4 }
  const count = await countTokens(engine, request, never)
  const { usage } = await collect(runAlone(engine, request, never))
  equal(usage.inputUncached + usage.inputCacheRead + usage.inputCacheWrite, count)
})

test('a text that cannot fit by its size alone is refused before any of it is made into tokens', async () => {
  const before = engine.textPid
  const text = 'a'.repeat(4_000_000)
  await rejects(collect(runAlone(engine, asking(text), never)), (error) => {
    ok(error instanceof ApiError && error.reason.code === 'context-exceeded')
    ok(error.reason.inputTokens >= 4_096 && error.reason.inputTokens <= text.length)
    return true
  })
  equal(engine.textPid, before)
})

test('a description of ten million letters without a space is too long, and no fault of the service', async () => {
  const kind = { parameters: { type: 'object' }, isStrict: false, schemaPath: [], input: 'json' } as const
  const tool = { name: 'look', description: '漢'.repeat(10_000_000), ...kind }
  const request = { ...asking('Look.'), tools: [tool] }
  await rejects(collect(runAlone(engine, request, never)), isCode('context-exceeded'))
})

test('a key that has many long texts counted does not keep another key waiting for all of them', async () => {
  const long = 'One of many words. '.repeat(20_000)
  const over: string[] = []
  const counts = Array.from({ length: 8 }, async (_, index) => {
    await countTokens(engine, asking(`${index} ${long}`, 'key_busy'), never)
    over.push('busy')
  })
  await countTokens(engine, asking('Just this.', 'key_quiet'), never)
  over.push('quiet')
  await Promise.all(counts)
  ok(over.indexOf('quiet') <= 2, over.join(' '))
})

test('a count that its client has left frees its turn at once', async () => {
  const leaving = new AbortController()
  const left = rejects(
    countTokens(engine, asking('One of many words. '.repeat(400_000)), leaving.signal),
    GenerationAborted,
  )
  const next = countTokens(engine, asking('Next.'), never)
  leaving.abort()
  await left
  ok((await next) > 0)
})

/** These of the library's ways of cutting words recurse for every letter. */
const recursive = ['gpt-4o', 'tekken', 'deepseek-v3', 'bloom']

test('sixty thousand letters without a space end no process, whatever the vocabulary', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-words-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of recursive) {
    const weightsPath = join(folder, `${name}.gguf`)
    writeFileSync(weightsPath, vocabularyFile(name))
    const { prompts, vocabulary } = createTextTools(await loadText({ weightsPath }))
    for (const unit of ['a', ' ', '漢', '+/']) {
      const text = `x${unit.repeat(60_000)}x`
      const { tokens } = await prompts.build(asking(text))
      const spelled = Buffer.concat(Array.from(tokens, (token) => vocabulary.bytesOf(token))).toString()
      ok(spelled.includes(text), `${name}: ${JSON.stringify(unit)}`)
    }
  }
})

/** A vocabulary of single bytes that is cut into words in a known way. */
function vocabularyFile(pre: string): Buffer {
  let next = 0x100
  const tokens = Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    return String.fromCodePoint(isPrintable ? byte : next++)
  })
  return madeGguf({
    'general.architecture': { type: 'string', value: 'llama' },
    'tokenizer.ggml.pre': { type: 'string', value: pre },
    'tokenizer.ggml.tokens': { type: 'string[]', value: [...tokens, '<end>', 'aa'] },
    'tokenizer.ggml.merges': { type: 'string[]', value: ['a a'] },
    'tokenizer.ggml.bos_token_id': { type: 'uint32', value: 256 },
    'tokenizer.ggml.eos_token_id': { type: 'uint32', value: 256 },
  })
}

test('texts of several keys are prepared at the same time', async () => {
  const counts = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      countTokens(engine, asking('Some words. '.repeat(3_000), `key_${index}`), never),
    ),
  )
  deepEqual(new Set(counts).size, 1)
})

test('prompts are counted in a process of their own, which yields to all others', async () => {
  await countTokens(engine, asking('Hello.'), never)
  const { pid, textPid, countPid } = engine
  ok(countPid !== null && countPid !== pid && countPid !== textPid)
  equal(getPriority(countPid), backgroundPriority)
  if (pid !== null) equal(getPriority(pid), getPriority())
})

test('the process for long texts is started for the first of them only once nobody is answered', async () => {
  let startTexts = () => {}
  const after: Clock['after'] = (pauseMs, work) => {
    if (pauseMs !== 30_000) return systemClock.after(pauseMs, work)
    startTexts = work
    return () => {}
  }
  const fresh = openLlama({}, { clock: { ...systemClock, after } })
  const answer = runAlone(fresh, engineRequest({ outputTokensMax: 40 }), never)
  await answer.next()
  startTexts()
  await countTokens(fresh, asking('Meanwhile.'), never)
  equal(fresh.textPid, null)
  await collect(answer)
  await until(() => fresh.textPid !== null, 'It is not started.')
  await fresh.close()
})
