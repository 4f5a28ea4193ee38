import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { generationRecord } from '../../test/harness/generation-record.ts'
import type { GenerationRecord } from './generation-record.ts'
import { createOtlpTracing, createTracing } from './otlp-tracing.ts'
import type { TracedRequest } from './trace.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const request: TracedRequest = {
  requestId: 'req_1',
  model: 'hal-1.0',
  protocol: 'messages',
  isStream: true,
  outputTokensMax: 100,
  temperature: null,
  traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
}
const record: GenerationRecord = { ...generationRecord, model: 'hal-1.0', costMicros: null }
const milliseconds = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1_000 + nanoseconds / 1e6
const duration = (span: ReadableSpan) => Math.round(milliseconds(span.duration))

/** Keeps the spans when the tracing closes, which an exporter in memory otherwise forgets. */
function createKept(sampleRatio: number) {
  const spans: ReadableSpan[] = []
  const exporter = new InMemorySpanExporter()
  const keep = exporter.export.bind(exporter)
  exporter.export = (batch, done) => {
    spans.push(...batch)
    keep(batch, done)
  }
  return { spans, tracing: createTracing(exporter, { sampleRatio, version: '1' }) }
}

test("a request continues its caller's trace, and its parts are spans of their own", async () => {
  const { spans, tracing } = createKept(0)
  const onward = tracing.begin(request)
  tracing.record(record)
  await tracing.close()
  const whole = spans.find(({ name }) => name === 'chat hal-1.0')
  assert.equal(onward, `00-${traceId}-${whole?.spanContext().spanId}-01`)
  assert.equal(whole?.parentSpanContext?.spanId, '00f067aa0ba902b7')
  assert.equal(whole.attributes['gen_ai.usage.input_tokens'], 10)
  assert.equal(whole.attributes['gen_ai.usage.cache_read.input_tokens'], 3)
  assert.deepEqual(whole.attributes['gen_ai.response.finish_reasons'], ['end'])
  const parts = spans.filter((span) => span.parentSpanContext?.spanId === whole.spanContext().spanId)
  assert.deepEqual(
    parts.map((span) => [span.name, duration(span)]),
    [
      ['queue', 10],
      ['prefill', 20],
      ['decode', 100],
    ],
  )
})

test('a refused request ends as an error, and only once', async () => {
  const { spans, tracing } = createKept(1)
  tracing.begin({ ...request, traceparent: null })
  tracing.refuse('req_1', 'rate-limited')
  tracing.refuse('req_1', 'internal')
  tracing.record(record)
  await tracing.close()
  assert.deepEqual(
    spans.map(({ name, attributes }) => [name, attributes['error.type']]),
    [['chat hal-1.0', 'rate-limited']],
  )
})

test('a trace that is not sampled is not sent, and a malformed trace header is ignored', async () => {
  const { spans, tracing } = createKept(0)
  for (const traceparent of [null, 'nonsense', `00-${traceId}-00f067aa0ba902b7-00`]) {
    assert.match(tracing.begin({ ...request, traceparent }) ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    tracing.record(record)
  }
  await tracing.close()
  assert.deepEqual(spans, [])
})

test('spans reach a collector over HTTP', async () => {
  const bodies: string[] = []
  const collector = createServer((incoming, answer) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      bodies.push(`${incoming.url} ${Buffer.concat(parts).toString('utf8')}`)
      answer.end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const tracing = createOtlpTracing({ endpoint: `http://127.0.0.1:${port}`, sampleRatio: 1, version: '1' })
  tracing.begin(request)
  tracing.record(record)
  await tracing.close()
  collector.closeAllConnections()
  collector.close()
  assert.match(bodies.join(''), /^\/v1\/traces .*chat hal-1\.0/)
})
