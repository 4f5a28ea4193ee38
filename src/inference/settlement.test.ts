import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { randomEntry } from '../../test/harness/databases/ledger-entries.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { createRandom } from '../../test/campaigns/random.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { zeroUsage, type GenerationEvent } from '../core/generation.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { noTracing } from '../telemetry/trace.ts'
import { Meter, watchLedger } from './settlement.ts'

test('tokens and cost are counted of what is in the ledger, and not of a row that the disk had no space for', async () => {
  const metrics = createMetrics({ version: '1', readEngines: () => [] })
  const disk = { isFull: true }
  const append = () => (disk.isFull ? Promise.reject(new Error('ENOSPC')) : Promise.resolve())
  const watchers = { metrics, tracing: noTracing, clock: createManualClock(), agreedFirstTokenMs: () => null }
  const ledger = watchLedger({ append, requireWritable: () => {} }, watchers)
  const drawn = randomEntry(1, { random: createRandom(1), prices: createPriceBook([]), fromMs: 0, toMs: 1 })
  const entry = {
    ...drawn,
    model: 'hal-1.0',
    outcome: 'finished',
    reason: 'end',
    usage: { ...drawn.usage, output: 10 },
    charge: { priceId: 'price_1', costPicos: 5_000_000n },
  } as const
  const counted = async () =>
    (await metrics.expose()).text
      .split('\n')
      .filter((line) => /^odyssey_(cost_micros|generations|ledger_failures|tokens_total.*"output")/.test(line))
  await rejects(ledger.append(entry), /ENOSPC/)
  deepEqual(await counted(), ['odyssey_ledger_failures_total 1'])
  disk.isFull = false
  await ledger.append(entry)
  deepEqual(await counted(), [
    'odyssey_generations_total{model="hal-1.0",outcome="finished",reason="end"} 1',
    'odyssey_tokens_total{model="hal-1.0",kind="output"} 10',
    'odyssey_cost_micros_total{model="hal-1.0"} 5',
    'odyssey_ledger_failures_total 1',
  ])
})

const start: GenerationEvent = { type: 'start', usage: zeroUsage }
const delta: GenerationEvent = { type: 'delta', text: 'a', tokens: 1 }

test('a request has its slot when the copy that answers was given it, or else when its first event comes', () => {
  let nowMs = 0
  const at = (ms: number, work: () => unknown) => {
    nowMs = ms
    work()
  }
  const meterOf = () => new Meter(2, () => nowMs)
  const timesOf = ({ firstEventMs, firstTokenMs }: ReturnType<Meter['read']>) => [firstEventMs, firstTokenMs]

  const untold = meterOf()
  at(3, () => untold.of(0).count(start))
  at(9, () => untold.of(0).count(delta))
  deepEqual(timesOf(untold.read()), [3, 9])

  const told = meterOf()
  at(2, () => told.of(0).placed())
  // The copy that was given it first has failed it.
  at(4, () => told.of(0).placed())
  at(5, () => told.of(1).placed())
  deepEqual([told.hasBegun, ...timesOf(told.read())], [false, 4, null])
  at(8, () => told.of(0).count(start))
  at(9, () => told.of(0).count(delta))
  at(20, () => told.of(0).placed())
  deepEqual([told.hasBegun, ...timesOf(told.read())], [true, 4, 9])
})
