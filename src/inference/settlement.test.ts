import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { randomEntry } from '../../test/harness/databases/ledger-entries.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { createRandom } from '../../test/campaigns/random.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { noTracing } from '../telemetry/trace.ts'
import { watchLedger } from './settlement.ts'

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
