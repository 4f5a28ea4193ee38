import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { budgetOf, createTestLimiter, limitOf, noTiers, principal } from '../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { ApiError, type ApiErrorReason } from '../core/error.ts'
import { zeroUsage } from '../core/generation.ts'
import type { Limit } from './settings/setting.ts'

type RateLimited = Extract<ApiErrorReason, { code: 'rate-limited' }>

const subject = { principal, model: 'clarke-1.0', requestId: 'req_1' } as const
const requestOf = (inputTokens: number, outputTokensMax: number, isOutputChosen = true) => ({
  inputTokens,
  outputTokensMax,
  isOutputChosen,
  worstCaseMicros: () => 0,
})
const used = (inputUncached: number, output: number, inputCacheRead = 0) => ({
  usage: { ...zeroUsage, inputUncached, inputCacheRead, output },
  costPicos: 0n,
  atMs: 0,
})
const nothing = used(0, 0)

function open(...limits: Partial<Limit>[]) {
  const clock = createManualClock()
  const entries = limits.map((limit, index) => limitOf({ id: `limit_${index}`, ...limit }))
  return { clock, ...createTestLimiter({ clock, limits: entries }) }
}

async function refusal(work: Promise<unknown>): Promise<RateLimited> {
  const error = await work.then(
    () => assert.fail('It was not refused.'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ApiError && error.reason.code === 'rate-limited', String(error))
  return error.reason
}

const remaining = ({ limiter }: ReturnType<typeof open>, model = 'clarke-1.0') => {
  const { requests, inputTokens, outputTokens } = limiter.snapshot(principal, [model])
  return [requests?.remaining ?? null, inputTokens?.remaining ?? null, outputTokens?.remaining ?? null]
}

test('a reservation is taken at once, and its unused part is free again when it is settled', async () => {
  const opened = open({ inputTokensPerMinute: 1_000, outputTokensPerMinute: 500 })
  const admission = await opened.limiter.admit(subject)
  assert.equal(await admission.reserve(requestOf(300, 200)), 200)
  assert.deepEqual(remaining(opened), [null, 700, 300])
  admission.settle(used(300, 50))
  assert.deepEqual(remaining(opened), [null, 700, 450])
})

test('reserving and settling a second time count once', async () => {
  const opened = open({ inputTokensPerMinute: 1_000, concurrency: 1 })
  const admission = await opened.limiter.admit(subject)
  await Promise.all([admission.reserve(requestOf(300, 0)), admission.reserve(requestOf(300, 0))])
  assert.deepEqual(remaining(opened), [null, 700, null])
  admission.settle(used(100, 0))
  admission.settle(used(100, 0))
  assert.deepEqual(remaining(opened), [null, 900, null])
  await opened.limiter.admit(subject)
  await refusal(opened.limiter.admit(subject))
})

test('a prompt that is not counted yet holds as much as it can be at most, and then as much as it is', async () => {
  const opened = open({ inputTokensPerMinute: 1_000, outputTokensPerMinute: 500 })
  const admission = await opened.limiter.admit(subject)
  assert.equal(admission.reserveOptimistically(requestOf(1_001, 200)), null)
  assert.deepEqual(remaining(opened), [null, 1_000, 500])
  assert.equal(admission.reserveOptimistically(requestOf(600, 200)), 200)
  assert.deepEqual(remaining(opened), [null, 400, 300])
  admission.counted(requestOf(50, 200))
  admission.counted(requestOf(40, 200))
  assert.deepEqual(remaining(opened), [null, 950, 300])
  assert.equal(await admission.reserve(requestOf(50, 200)), 200)
  admission.settle(used(50, 20))
  assert.deepEqual(remaining(opened), [null, 950, 480])
})

test('a prompt that turns out longer than it was to be is reserved for anew, or refused', async () => {
  const opened = open({ inputTokensPerMinute: 1_000 })
  const [first, second] = [await opened.limiter.admit(subject), await opened.limiter.admit(subject)]
  assert.equal(first.reserveOptimistically(requestOf(100, 0)), 0)
  assert.equal(await first.reserve(requestOf(700, 0)), 0)
  assert.deepEqual(remaining(opened), [null, 300, null])
  assert.equal(second.reserveOptimistically(requestOf(100, 0)), 0)
  await refusal(second.reserve(requestOf(400, 0)))
  second.settle(nothing)
  assert.deepEqual(remaining(opened), [null, 300, null])
})

test('a request that is over before its prompt was counted has used nothing', async () => {
  const opened = open({ inputTokensPerMinute: 1_000 })
  const admission = await opened.limiter.admit(subject)
  admission.reserveOptimistically(requestOf(100, 0))
  admission.settle(nothing)
  admission.counted(requestOf(10, 0))
  assert.equal(admission.reserveOptimistically(requestOf(100, 0)), null)
  assert.deepEqual(remaining(opened), [null, 1_000, null])
})

test('a request waits for optimistic reservations to be counted instead of being refused', async () => {
  const opened = open({ inputTokensPerMinute: 1_000 })
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => opened.limiter.admit(subject)))
  assert.equal(first?.reserveOptimistically(requestOf(900, 0)), 0)
  assert.equal(second?.reserveOptimistically(requestOf(200, 0)), null)
  const reserved = second.reserve(requestOf(200, 0))
  const refused = refusal(third!.reserve(requestOf(951, 0)))
  first.counted(requestOf(50, 0))
  assert.equal(await reserved, 0)
  await refused
  assert.deepEqual(remaining(opened), [null, 750, null])
})

test('an engine that never counts keeps a refusal waiting for a second', async () => {
  const opened = open({ inputTokensPerMinute: 1_000 })
  const [first, second] = await Promise.all([1, 2].map(() => opened.limiter.admit(subject)))
  first?.reserveOptimistically(requestOf(900, 0))
  let isRefused = false
  const refused = refusal(second!.reserve(requestOf(900, 0))).then(() => (isRefused = true))
  await turn()
  opened.clock.advance(999)
  await turn()
  assert.ok(!isRefused)
  opened.clock.advance(1)
  await refused
})

test('tokens from the cache count at their own weight', async () => {
  const opened = open({ inputTokensPerMinute: 10_000, cachedReadPercent: 25 })
  const admission = await opened.limiter.admit(subject)
  await admission.reserve(requestOf(5_000, 0))
  assert.deepEqual(remaining(opened), [null, 5_000, null])
  admission.settle(used(1_000, 0, 4_000))
  assert.deepEqual(remaining(opened), [null, 8_000, null])
})

test('the most restrictive limit counts, and a refusal takes nothing of the others', async () => {
  const opened = open(
    { inputTokensPerMinute: 1_000, outputTokensPerMinute: 1_000 },
    { subject: { kind: 'project', id: 'proj_1' }, inputTokensPerMinute: 500 },
    {
      subject: { kind: 'api-key', id: 'key_1' },
      model: 'clarke-1.0',
      outputTokensPerMinute: 100,
      requestsPerMinute: 9,
    },
  )
  assert.deepEqual(remaining(opened), [9, 500, 100])
  assert.deepEqual(remaining(opened, 'hal-1.0'), [null, 500, 1_000])
  const admission = await opened.limiter.admit(subject)
  const { exceeded } = await refusal(admission.reserve(requestOf(600, 100)))
  assert.deepEqual(exceeded, {
    kind: 'input-tokens',
    model: 'clarke-1.0',
    limit: 500,
    remaining: 500,
    requested: 600,
  })
  assert.deepEqual(remaining(opened), [8, 500, 100])
})

test('limits of others do not apply: another model, another key, the same id under another organization', async () => {
  const opened = open(
    { model: 'hal-1.0', inputTokensPerMinute: 1 },
    { subject: { kind: 'api-key', id: 'key_2' }, inputTokensPerMinute: 1 },
    { organizationId: 'org_2', subject: { kind: 'api-key', id: 'key_1' }, inputTokensPerMinute: 1 },
  )
  assert.deepEqual(remaining(opened), [null, null, null])
})

test('a key that replaced another goes on under the first one’s limits', async () => {
  const opened = open({ subject: { kind: 'api-key', id: 'key_1' }, concurrency: 1 })
  await opened.limiter.admit(subject)
  await refusal(opened.limiter.admit({ ...subject, principal: { ...principal, apiKeyId: 'key_9', quotaId: 'key_1' } }))
})

test('the wait of a refusal is exact: then it is admitted, a millisecond before it is not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 100, max: 90_000 }),
      fc.integer({ min: 1, max: 100 }),
      async (limit, percent) => {
        const { limiter, clock } = open({ inputTokensPerMinute: limit })
        const amount = Math.ceil((limit * percent) / 100)
        await (await limiter.admit(subject)).reserve(requestOf(limit, 0))
        const { retryAfterMs } = await refusal((await limiter.admit(subject)).reserve(requestOf(amount, 0)))
        clock.advance(retryAfterMs - 1)
        await refusal((await limiter.admit(subject)).reserve(requestOf(amount, 0)))
        clock.advance(1)
        await (await limiter.admit(subject)).reserve(requestOf(amount, 0))
      },
    ),
    { numRuns: 200 },
  )
})

test('a prompt larger than the limit will never be admitted, and the refusal says so', async () => {
  const { limiter } = open({ inputTokensPerMinute: 100 })
  const { retryAfterMs } = await refusal((await limiter.admit(subject)).reserve(requestOf(101, 0)))
  assert.equal(retryAfterMs, Infinity)
})

test('an answer larger than the limit, chosen or not, is admitted when the limit is all there', async () => {
  for (const isOutputChosen of [true, false]) {
    const opened = open({ outputTokensPerMinute: 100 })
    const admission = await opened.limiter.admit(subject)
    assert.equal(await admission.reserve(requestOf(10, 64_000, isOutputChosen)), 64_000)
    assert.deepEqual(remaining(opened), [null, null, 0])
    admission.settle(used(10, 160))
    const { retryAfterMs } = await refusal((await opened.limiter.admit(subject)).reserve(requestOf(1, 1)))
    assert.equal(retryAfterMs, (61 / 100) * 60_000)
  }
})

test('an answer takes more of its limit as it grows, and no limit is ever in debt by more than a minute’s allowance', async () => {
  const opened = open({ outputTokensPerMinute: 10_000 }, { outputTokensPerMinute: 40_000 })
  const admission = await opened.limiter.admit(subject)
  assert.equal(await admission.reserve(requestOf(10, 1_000_000, false)), 1_000_000)
  const { first, slice } = admission.outputSlices()
  assert.deepEqual([first, slice], [1_024, 167])
  let output = first
  const growForMs = (ms: number) => {
    for (let passedMs = 0; passedMs <= ms; passedMs += 1_000) {
      while (admission.growOutput(slice) === 0) output += slice
      if (passedMs < ms) opened.clock.advance(1_000)
    }
  }
  growForMs(0)
  assert.ok(output <= 20_000 && output > 20_000 - slice, `${output}`)
  growForMs(5 * 60_000)
  assert.ok(output <= 70_000 && output > 70_000 - slice, `${output}`)
  const waitMs = admission.growOutput(slice)
  opened.clock.advance(waitMs - 1)
  assert.notEqual(admission.growOutput(slice), 0)
  opened.clock.advance(1)
  assert.equal(admission.growOutput(slice), 0)
  admission.settle(used(10, output + slice))
  const { retryAfterMs } = await refusal((await opened.limiter.admit(subject)).reserve(requestOf(1, 1)))
  assert.ok(retryAfterMs <= 60_006, `${retryAfterMs}`)
})

test('answers of many requests together owe one minute’s allowance at most', async () => {
  const opened = open({ outputTokensPerMinute: 10_000 })
  const admissions = await Promise.all(Array.from({ length: 9 }, () => opened.limiter.admit(subject)))
  for (const admission of admissions) await admission.reserve(requestOf(10, 64_000, false))
  let grown = 0
  for (const admission of admissions) while (admission.growOutput(167) === 0) grown += 167
  assert.ok(grown + 9 * 1_024 <= 20_000 && grown > 0, `${grown}`)
})

test('a client that names no maximum is assumed to want a tenth of the limit', async () => {
  const opened = open({ outputTokensPerMinute: 80_000 })
  await (await opened.limiter.admit(subject)).reserve(requestOf(10, 64_000, false))
  assert.deepEqual(remaining(opened), [null, null, 72_000])
})

test('requests are refused only where that is enforced, and shown in any case', async () => {
  const counted = open({ requestsPerMinute: 2 })
  for (let count = 0; count < 5; count++) await counted.limiter.admit(subject)
  assert.deepEqual(remaining(counted), [0, null, null])
  counted.clock.advance(30_000)
  assert.deepEqual(remaining(counted), [1, null, null])
  const enforced = open({ requestsPerMinute: 2, isRequestsEnforced: true })
  await enforced.limiter.admit(subject)
  await enforced.limiter.admit(subject)
  assert.equal((await refusal(enforced.limiter.admit(subject))).retryAfterMs, 30_000)
})

test('a request refused for its tokens does not count as one', async () => {
  const opened = open({ requestsPerMinute: 5, isRequestsEnforced: true, inputTokensPerMinute: 10 })
  await refusal((await opened.limiter.admit(subject)).reserve(requestOf(11, 0)))
  assert.deepEqual(remaining(opened), [5, 10, null])
})

test('a request refused for its budget does not count as one', async () => {
  const clock = createManualClock()
  const limits = [limitOf({ requestsPerMinute: 1, isRequestsEnforced: true })]
  const { limiter } = createTestLimiter({ clock, limits, budgets: [budgetOf({ microsMax: 1, tokensMax: 10 })] })
  const budgetExceeded = (error: unknown) => error instanceof ApiError && error.code === 'budget-exceeded'
  for (let count = 0; count < 3; count++) {
    await assert.rejects((await limiter.admit(subject)).reserve(requestOf(11, 1)), budgetExceeded)
  }
  await (await limiter.admit(subject)).reserve(requestOf(1, 1))
})

test('a changed limit keeps what was counted; a removed one is gone', async () => {
  const { book, ...opened } = open({ inputTokensPerMinute: 1_000 })
  const admission = await opened.limiter.admit(subject)
  await admission.reserve(requestOf(600, 0))
  book.update({ limits: [limitOf({ id: 'limit_0', inputTokensPerMinute: 2_000 })], budgets: [], tiers: noTiers })
  assert.deepEqual(remaining({ book, ...opened }), [null, 1_400, null])
  book.update({ limits: [], budgets: [], tiers: noTiers })
  assert.deepEqual(remaining({ book, ...opened }), [null, null, null])
  admission.settle(nothing)
})

test('a default number of requests holds for every key that has none of its own', async () => {
  const clock = createManualClock()
  const own = limitOf({ subject: { kind: 'api-key', id: 'key_2' }, concurrency: 2 })
  const { limiter } = createTestLimiter({ clock, limits: [own], requestsPerKeyMax: 1 })
  const first = await limiter.admit(subject)
  await refusal(limiter.admit(subject))
  const other = { ...subject, principal: { ...principal, apiKeyId: 'key_2' } } as const
  await limiter.admit(other)
  await limiter.admit(other)
  await refusal(limiter.admit(other))
  first.settle(nothing)
  await limiter.admit(subject)
})

test('100,000 requests of which a tenth are aborted, with refusals in between, leave no drift', async () => {
  const million = 1_000_000
  const opened = open(
    { inputTokensPerMinute: 400 * million, outputTokensPerMinute: 400 * million, concurrency: 50 },
    { subject: { kind: 'project', id: 'proj_1' }, inputTokensPerMinute: 900 * million, cachedReadPercent: 0 },
  )
  let seed = 7
  const random = (below: number) => Math.floor(((seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647) * below)
  const sums = { input: 0, output: 0, weightless: 0, refused: 0, aborted: 0 }
  const running: { settle(): void }[] = []
  for (let count = 0; count < 100_000; count++) {
    while (running.length > 20 + random(40)) running.splice(random(running.length), 1)[0]?.settle()
    const admission = await opened.limiter.admit(subject).catch(() => null)
    if (admission === null) {
      sums.refused += 1
      continue
    }
    const [input, cached, output] = [1 + random(4_000), random(1_000), random(2_000)]
    const isAborted = random(10) === 0
    if (isAborted) sums.aborted += 1
    const isAhead =
      random(2) === 0 && admission.reserveOptimistically(requestOf(input + cached + random(9_000), 2_000)) !== null
    if (!isAhead) await admission.reserve(requestOf(input + cached, 2_000))
    else if (!isAborted) admission.counted(requestOf(input + cached, 2_000))
    const end = isAborted && random(2) === 0 ? nothing : used(input, isAborted ? random(output + 1) : output, cached)
    sums.input += end.usage.inputUncached + Math.ceil(end.usage.inputCacheRead / 10)
    sums.weightless += end.usage.inputUncached
    sums.output += end.usage.output
    running.push({ settle: () => admission.settle(end) })
  }
  for (const request of running) request.settle()
  assert.ok(sums.refused > 10 && sums.aborted > 5_000, JSON.stringify(sums))
  const { inputTokens, outputTokens } = opened.limiter.snapshot(principal, ['clarke-1.0'])
  assert.equal(inputTokens?.remaining, 400 * million - sums.input)
  assert.equal(outputTokens?.remaining, 400 * million - sums.output)
  const project = opened.book.limitsOf(principal, 'clarke-1.0').find(({ limit }) => limit.cachedReadPercent === 0)
  assert.equal(project?.allowances.get('input-tokens')?.remaining(), 900 * million - sums.weightless)
  for (let count = 0; count < 50; count++) await opened.limiter.admit(subject)
})

test('a place taken before the body is read is not taken again, and comes back once', async () => {
  const { limiter } = open(
    { concurrency: 2, requestsPerMinute: 10, isRequestsEnforced: true },
    { model: 'clarke-1.0', concurrency: 1 },
  )
  const first = await limiter.enter(principal)
  const second = await limiter.enter(principal)
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
  const admission = await limiter.admit(subject, first)
  // Its model has only one place, so it leaves the one that it has entered by.
  await refusal(limiter.admit(subject, second))
  second.leave()
  const third = await limiter.enter(principal)
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
  first.leave()
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
  admission.settle(nothing)
  admission.settle(nothing)
  await limiter.enter(principal)
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
  third.leave()
  third.leave()
  await limiter.enter(principal)
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
})

test('a key without a limit of its own enters by the places that every key has', async () => {
  const { limiter } = createTestLimiter({ clock: createManualClock(), requestsPerKeyMax: 1 })
  const entrance = await limiter.enter(principal)
  await refusal(Promise.resolve().then(() => limiter.enter(principal)))
  const admission = await limiter.admit(subject, entrance)
  admission.settle(nothing)
  await limiter.enter(principal)
})
