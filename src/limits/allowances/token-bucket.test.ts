import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { perMinuteMax } from '../../core/limit-fields.ts'
import { TokenBucket } from './token-bucket.ts'

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'ask'; readonly amount: number; readonly used: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), ms: fc.double({ min: 0, max: 90_000, noNaN: true }) }),
  fc.record({ kind: fc.constant('ask' as const), amount: fc.nat(5_000), used: fc.nat(6_000) }),
)

test('in every window no more is admitted than was held at its begin and flowed in since', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4_000 }), fc.array(step, { maxLength: 60, size: 'max' }), (limit, steps) => {
      let nowMs = 0.4
      const bucket = new TokenBucket(limit, nowMs)
      const windows: { atMs: number; held: number; admitted: number }[] = []
      for (const now of steps) {
        if (now.kind === 'wait') nowMs += now.ms
        windows.push({ atMs: nowMs, held: bucket.free(nowMs), admitted: 0 })
        if (now.kind === 'wait' || bucket.free(nowMs) < now.amount) continue
        bucket.take(now.amount, nowMs)
        for (const window of windows) window.admitted += now.amount
        for (const { atMs, held, admitted } of windows) {
          const flowedIn = ((Math.floor(nowMs) - Math.floor(atMs)) * limit) / 60_000
          // A part of a token that was there already is not among those held, which are whole.
          assert.ok(admitted < held + 1 + flowedIn + 1e-6, `${admitted} of ${held} + ${flowedIn}`)
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('a token bucket keeps to exact arithmetic over any sequence', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: perMinuteMax }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      (limit, steps) => {
        const bucket = new TokenBucket(limit, 0)
        const capacity = BigInt(limit) * 60_000n
        let [nowMs, level] = [0, capacity]
        const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
        for (const now of steps) {
          if (now.kind === 'wait') {
            nowMs += Math.floor(now.ms)
            level = smaller(capacity, level + BigInt(Math.floor(now.ms)) * BigInt(limit))
            continue
          }
          if (bucket.free(nowMs) >= now.amount) {
            bucket.take(now.amount, nowMs)
            level -= BigInt(now.amount) * 60_000n
            if (now.used > now.amount) bucket.take(now.used - now.amount, nowMs)
            else bucket.give(now.amount - now.used, nowMs)
            level = smaller(capacity, level + BigInt(now.amount - now.used) * 60_000n)
          }
          assert.equal(BigInt(bucket.free(nowMs)), level > 0n ? level / 60_000n : 0n)
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('the wait for tokens is exact: a millisecond earlier there are too few', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (limit, share) => {
      const bucket = new TokenBucket(limit, 0)
      bucket.take(limit, 0)
      const amount = Math.max(1, Math.floor(limit * share))
      const waitMs = bucket.waitMs(amount, 0)
      assert.ok(bucket.free(waitMs - 1) < amount)
      assert.ok(bucket.free(waitMs) >= amount)
    }),
  )
})

test('more tokens than a bucket holds are never free, and a full bucket has no wait', () => {
  const bucket = new TokenBucket(100, 0)
  assert.equal(bucket.waitMs(101, 0), Infinity)
  assert.equal(bucket.waitMs(100, 0), 0)
})

test('part of a millisecond counts when it is over', () => {
  const bucket = new TokenBucket(60_000, 0.5)
  bucket.take(60_000, 0.5)
  assert.equal(bucket.free(0.99), 0)
  assert.equal(bucket.free(1), 1)
  assert.equal(bucket.waitMs(2, 1.25), 0.75)
})

test('a clock that goes backwards refills nothing and takes nothing', () => {
  const bucket = new TokenBucket(60, 10_000)
  bucket.take(60, 10_000)
  assert.equal(bucket.free(9_000), 0)
  assert.equal(bucket.free(11_000), 1)
})

test('a changed limit helps at once and never leaves a debt', () => {
  const bucket = new TokenBucket(10, 0)
  bucket.take(10, 0)
  bucket.resize(1_000, 0)
  assert.equal(bucket.free(0), 990)
  bucket.take(500, 0)
  bucket.resize(10, 0)
  assert.equal(bucket.free(0), 10)
})

test('100,000 requests of which a tenth are aborted leave no drift', () => {
  const limit = 1_000_000_000
  const bucket = new TokenBucket(limit, 0)
  let [used, seed] = [0, 1]
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  const open: { taken: number; used: number }[] = []
  for (let count = 0; count < 100_000; count++) {
    const taken = Math.floor(random() * 5_000)
    bucket.take(taken, 0)
    open.push({ taken, used: random() < 0.1 ? Math.floor(random() * 10) : Math.floor(random() * taken) })
    while (open.length > 200 * random()) {
      const [request] = open.splice(Math.floor(random() * open.length), 1)
      if (request === undefined) break
      bucket.give(request.taken - request.used, 0)
      used += request.used
    }
  }
  for (const request of open) {
    bucket.give(request.taken - request.used, 0)
    used += request.used
  }
  assert.equal(bucket.free(0), limit - used)
})
