import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generationRecord } from '../../test/harness/generation-record.ts'
import type { GenerationRecord } from './generation-record.ts'
import { createMetrics } from './metrics.ts'

const status = {
  state: 'ready',
  windowTokens: 125_000,
  features: new Set<never>(),
  running: 2,
  waiting: 1,
  slots: 4,
} as const
const create = () => createMetrics({ version: '9.9.9', readEngines: () => [{ model: 'tycho-1.0', status }] })
const record: GenerationRecord = { ...generationRecord, model: 'tycho-1.0', costMicros: 7 }

async function read(metrics: ReturnType<typeof create>, series: string): Promise<number | null> {
  const { text } = await metrics.expose()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? null : Number(line.slice(series.length + 1))
}

test('a generation is counted with its tokens, times and cost', async () => {
  const metrics = create()
  metrics.generated(record)
  metrics.generated({ ...record, outcome: 'failed', reason: 'engine-failed', firstTokenMs: null, costMicros: null })
  const counted = {
    'odyssey_generations_total{model="tycho-1.0",outcome="finished",reason="end"}': 1,
    'odyssey_generations_total{model="tycho-1.0",outcome="failed",reason="engine-failed"}': 1,
    'odyssey_tokens_total{model="tycho-1.0",kind="input_cache_read"}': 6,
    'odyssey_tokens_total{model="tycho-1.0",kind="output"}': 22,
    'odyssey_thinking_tokens_total{model="tycho-1.0"}': 8,
    'odyssey_cost_micros_total{model="tycho-1.0"}': 7,
    'odyssey_first_token_seconds_count{model="tycho-1.0"}': 1,
    'odyssey_output_token_seconds_sum{model="tycho-1.0"}': 0.01,
    'odyssey_queue_seconds_sum{model="tycho-1.0"}': 0.02,
  }
  for (const [series, value] of Object.entries(counted)) assert.equal(await read(metrics, series), value, series)
})

test('requests are counted by how they went, from zero on for every model', async () => {
  const metrics = create()
  const series = (model: string, verdict: string) => `odyssey_sli_requests_total{model="${model}",class="${verdict}"}`
  assert.equal(await read(metrics, series('hal-1.0', 'failed')), 0)
  metrics.judged('hal-1.0', 'slow')
  metrics.judged('hal-1.0', 'good')
  assert.equal(await read(metrics, series('hal-1.0', 'slow')), 1)
  assert.equal(await read(metrics, series('hal-1.0', 'good')), 1)
  assert.equal(await read(metrics, series('clarke-1.0', 'unserved')), 0)
})

test('the engines are asked at every scrape', async () => {
  const metrics = create()
  assert.equal(await read(metrics, 'odyssey_engine_running{model="tycho-1.0"}'), 2)
  assert.equal(await read(metrics, 'odyssey_engine_ready{model="tycho-1.0"}'), 1)
  assert.equal(await read(metrics, 'odyssey_build_info{version="9.9.9"}'), 1)
})

test('requests, errors and ledger rows are counted', async () => {
  const metrics = create()
  metrics.answered({ route: '/v1/messages', method: 'POST', status: 200, durationMs: 40 })
  metrics.refused('rate-limited')
  metrics.recorded(3, true)
  metrics.recorded(3, false)
  assert.equal(await read(metrics, 'odyssey_http_requests_total{route="/v1/messages",method="POST",status="200"}'), 1)
  assert.equal(await read(metrics, 'odyssey_http_request_seconds_sum{route="/v1/messages"}'), 0.04)
  assert.equal(await read(metrics, 'odyssey_errors_total{code="rate-limited"}'), 1)
  assert.equal(await read(metrics, 'odyssey_ledger_append_seconds_count'), 1)
  assert.equal(await read(metrics, 'odyssey_ledger_failures_total'), 1)
})
