import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { createTestLimiter, limitOf } from '../../test/harness/databases/limiter.ts'
import { queueEngine } from '../../test/harness/engines/queued-engine.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { generationRequest } from '../../test/harness/requests.ts'
import type { LedgerEntry } from '../billing/ledger/ledger-entry.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { ApiError } from '../core/error.ts'
import { GenerationAborted, type GenerationEvent } from '../core/generation.ts'
import { modelIds } from '../core/model.ts'
import { FakeEngine, type FakeStep } from '../engines/fake/fake-engine.ts'
import { createCatalog } from '../models/catalog.ts'
import { generate, type InferenceParts } from './generate.ts'
import { describeServedModel } from '../models/served-models.ts'

const asked = {
  request: generationRequest(),
  requestId: 'req_1',
  principal: { kind: 'api-key', apiKeyId: 'key_1', organizationId: 'org_1', projectId: 'proj_1' },
} as const
const never = new AbortController().signal
const words: FakeStep = { kind: 'block', block: { kind: 'text' }, texts: ['a ', 'b ', 'c'] }
const end: FakeStep = { kind: 'end', reason: { kind: 'end' } }

let written: LedgerEntry[]
let refused: unknown[]
beforeEach(() => {
  written = []
  refused = []
})

function partsFor(
  script: readonly FakeStep[],
  append = async (entry: LedgerEntry) => void written.push(entry),
  clock = createManualClock(),
  limits: Parameters<typeof createTestLimiter>[0]['limits'] = [],
): InferenceParts {
  const { engine, queue } = queueEngine(new FakeEngine({ script: () => script }))
  const settings = { thinking: 'off', outputTokensMax: 100 } as const
  const catalog = createCatalog(modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue })))
  const prices = createPriceBook([])
  const refusals = {
    count: (organizationId: string | null, error: unknown) => void refused.push([organizationId, error]),
  }
  const { limiter } = createTestLimiter({ clock, limits, requestsPerKeyMax: 1 })
  return { catalog, ledger: { append, requireWritable: () => {} }, refusals, prices, limiter, clock }
}

async function readUntil(events: AsyncIterable<GenerationEvent>, type: GenerationEvent['type']): Promise<void> {
  for await (const event of events) if (event.type === type) return
}

const outcomes = () => written.map(({ outcome, reason, usage }) => [outcome, reason, usage.inputUncached, usage.output])

test('a finished generation is in the ledger before its finish is handed on', async () => {
  const events = await generate(partsFor([words, end]), asked, never)
  for await (const event of events) assert.equal(written.length, event.type === 'finish' ? 1 : 0)
  assert.deepEqual(outcomes(), [['finished', 'end', 10, 3]])
})

test('a reader that hangs up is charged what the engine did until then', async () => {
  await readUntil(await generate(partsFor([words, { kind: 'wait', ms: 60_000 }, end]), asked, never), 'block-end')
  assert.deepEqual(outcomes(), [['aborted', 'client-left', 10, 3]])
})

test('a stream that is closed without being read is in the ledger', async () => {
  const events = await generate(partsFor([words, end]), asked, never)
  await events.return(undefined)
  assert.deepEqual(outcomes(), [['aborted', 'client-left', 10, 0]])
})

test('an abort by the signal is in the ledger with the counts of the engine', async () => {
  const controller = new AbortController()
  const events = await generate(partsFor([words, { kind: 'wait', ms: 60_000 }, end]), asked, controller.signal)
  setTimeout(() => controller.abort(), 20)
  await assert.rejects(Array.fromAsync(events), GenerationAborted)
  assert.deepEqual(outcomes(), [['aborted', 'client-left', 10, 3]])
})

test('a failure in the middle is thrown on and is in the ledger', async () => {
  const failure = new ApiError({ code: 'engine-failed' }, 'gone')
  const events = await generate(partsFor([words, { kind: 'fail', error: failure }]), asked, never)
  await assert.rejects(Array.fromAsync(events), failure)
  assert.deepEqual(outcomes(), [['failed', 'engine-failed', 10, 3]])
})

test('an engine that stops without a word is a failure', async () => {
  const events = await generate(partsFor([words]), asked, never)
  await assert.rejects(Array.fromAsync(events), /without a finish/)
  assert.deepEqual(outcomes(), [['failed', 'internal', 10, 3]])
})

test('a request whose prompt does not fit is refused while there can still be a status, counted, and not in the ledger', async () => {
  const parts = partsFor([])
  const tooLong = new ApiError({ code: 'context-exceeded', inputTokens: 9, windowTokens: 8 }, 'too long')
  parts.catalog.find('clarke-1.0').engine.prepare = () => {
    const tokens = Promise.reject(tooLong)
    tokens.catch(() => {})
    return {
      tokensMax: null,
      tokens,
      unenforced: [],
      run: () => assert.fail('It does not fit.'),
      allow() {},
      cancel() {},
    }
  }
  await assert.rejects(generate(parts, asked, never), /too long/)
  assert.deepEqual([outcomes(), refused], [[], [['org_1', tooLong]]])
})

test('when the ledger cannot be written nothing ends well', async () => {
  const parts = partsFor([words, end], () => Promise.reject(new Error('disk full')))
  const events = await generate(parts, asked, never)
  const types: string[] = []
  await assert.rejects(
    async () => {
      for await (const event of events) types.push(event.type)
    },
    (error) => error instanceof ApiError && error.code === 'overloaded',
  )
  assert.ok(!types.includes('finish'))
})

test('the place a request holds is free again however it ended', async () => {
  const parts = partsFor([words, end])
  const first = await generate(parts, asked, never)
  await assert.rejects(
    generate(parts, asked, never),
    (error) => error instanceof ApiError && error.code === 'rate-limited',
  )
  await first.return(undefined)
  await Array.fromAsync(await generate(parts, { ...asked, requestId: 'req_2' }, never))
  assert.equal(written.length, 2)
})

test('the engine’s stream is closed also for a reader that stops at the finish', async () => {
  const parts = partsFor([words, end])
  const { engine } = parts.catalog.find('clarke-1.0')
  await readUntil(await generate(parts, asked, never), 'finish')
  assert.equal(engine.status().running, 0)
})

test('an unknown model and a feature the engine lacks are refused before anything is reserved', async () => {
  const parts = partsFor([words, end])
  const other = { ...asked, request: generationRequest({ model: 'gpt-4o' }) }
  await assert.rejects(
    generate(parts, other, never),
    (error) => error instanceof ApiError && error.code === 'model-not-found',
  )
  const biased = generationRequest({ sampling: { ...asked.request.sampling, logitBias: [[1, 2]] } })
  await assert.rejects(
    generate(parts, { ...asked, request: biased }, never),
    (error) => error instanceof ApiError && error.code === 'unsupported-feature',
  )
  assert.deepEqual(written, [])
})

test('several answers come one after the other and are one row, the prompt counted once', async () => {
  const several = { ...asked, request: generationRequest({ choiceCount: 3 }) }
  const events = await Array.fromAsync(await generate(partsFor([words, end]), several, never))
  assert.equal(events.filter(({ type }) => type === 'start').length, 3)
  assert.deepEqual(outcomes(), [['finished', 'end', 10, 9]])
})

test('a reader that leaves in the midst of several answers is charged for all that were begun', async () => {
  const several = { ...asked, request: generationRequest({ choiceCount: 3 }) }
  const parts = partsFor([words, { kind: 'wait', ms: 60_000 }, end])
  await readUntil(await generate(parts, several, never), 'block-end')
  // The others have only been asked for their first event.
  assert.deepEqual(outcomes(), [['aborted', 'client-left', 10, 3]])
})

test('a request that is refused for its price leaves no row, and its key has its place back', async () => {
  const parts = partsFor([words, end])
  const refusal = new ApiError({ code: 'permission-denied' }, 'There is no price.')
  const prices = {
    find() {
      throw refusal
    },
  }
  await assert.rejects(generate({ ...parts, prices }, asked, never), refusal)
  assert.deepEqual(written, [])
  await readUntil(await generate(parts, asked, never), 'finish')
  assert.equal(written.length, 1)
})

const many: FakeStep = { kind: 'block', block: { kind: 'text' }, texts: Array.from({ length: 95 }, () => 'w ') }

/** Reads for some simulated minutes. Returns after how many tokens of the answer each of them ended, and how it ended. */
async function readForMinutes(overLimit: 'pause' | 'length', minutes: number) {
  const clock = createManualClock()
  const parts = partsFor([many, end], undefined, clock, [limitOf({ outputTokensPerMinute: 20 })])
  const events = await generate({ ...parts, outputOverLimit: overLimit }, asked, never)
  let tokens = 0
  let reason: string | null = null
  const reading = (async () => {
    for await (const event of events) {
      if (event.type === 'delta') tokens += event.tokens
      if (event.type === 'finish') reason = event.reason.kind
    }
  })()
  const made: number[] = []
  for (let minute = 0; minute <= minutes && reason === null; minute += 1) {
    for (let second = 0; minute > 0 && second < 60; second += 1) {
      clock.advance(1_000)
      await new Promise((resolve) => void setImmediate(resolve))
    }
    await new Promise((resolve) => void setTimeout(resolve, 5))
    made.push(tokens)
  }
  await reading
  return { made, reason }
}

test('an answer that has used up its limit waits for more of it, or ends there, as the setting says', async () => {
  const paused = await readForMinutes('pause', 10)
  assert.equal(paused.reason, 'end')
  assert.equal(paused.made.at(-1), 95)
  assert.ok(paused.made.length > 2, 'it took minutes')
  for (const [minute, tokens] of paused.made.entries()) assert.ok(tokens <= 20 * (minute + 2), `${tokens} in ${minute}`)
  const cut = await readForMinutes('length', 10)
  assert.deepEqual([cut.reason, cut.made.length], ['length', 1])
  assert.ok((cut.made[0] ?? 0) <= 40, `${cut.made[0]}`)
})
