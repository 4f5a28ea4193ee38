import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/campaigns/random.ts'
import { picosPerMicro } from '../../core/money.ts'
import { usualCredits } from './objectives.ts'
import { creditFor } from './report.ts'

const model = 'hal-1.0'
const creditAt = (ppm: number | null, chargesPicos: bigint, credits = usualCredits) =>
  creditFor({ model, uptimePpm: { minutes: ppm, requests: null } }, { basis: 'minutes', credits }, chargesPicos)

test('a month just at what was promised gives nothing back, and each step begins right below its number', () => {
  const charges = 1_000n * picosPerMicro
  deepEqual(
    [1_000_000, 999_000, 998_999, 990_000, 989_999, 950_000, 949_999, 0].map((ppm) => creditAt(ppm, charges).micros),
    [0n, 0n, 100n, 100n, 250n, 250n, 1_000n, 1_000n],
  )
  deepEqual([creditAt(null, charges).micros, creditAt(0, -charges).micros], [0n, 0n])
})

test('over a hundred thousand random months what is given back is the share of the rule, rounded down once, and nothing else', () => {
  const random = createRandom(24)
  let [given, ruled] = [0n, 0n]
  for (let month = 0; month < 100_000; month += 1) {
    const steps = Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 1_000_000))
    const credits = [...new Set(steps)]
      .toSorted((one, other) => other - one)
      .map((belowPpm, index) => ({ belowPpm, percent: 10 + 30 * index }))
    const ppm = random.integer(0, 3) === 0 ? random.pick(credits).belowPpm : random.integer(0, 1_000_000)
    const charges =
      BigInt(random.integer(0, 2 ** 31)) * BigInt(random.integer(0, 2 ** 31)) + BigInt(random.integer(0, 9))
    const { micros, percent } = creditAt(ppm, charges, credits)
    // The largest of all the shares that the month has come below.
    const due = Math.max(0, ...credits.filter(({ belowPpm }) => ppm < belowPpm).map((step) => step.percent))
    equal(percent, due)
    const hundredths = charges * BigInt(due)
    ok(micros * 100n * picosPerMicro <= hundredths && hundredths < (micros + 1n) * 100n * picosPerMicro)
    given += micros
    ruled += (hundredths - (hundredths % (100n * picosPerMicro))) / (100n * picosPerMicro)
  }
  equal(given, ruled)
  ok(given > 0n)
})
