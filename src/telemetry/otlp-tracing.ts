import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { GenerationRecord } from './generation-record.ts'
import type { TracedRequest, Tracing } from './trace.ts'

export type TracingOptions = {
  /** Where spans are sent: an OTLP address over HTTP, such as http://127.0.0.1:4318. */
  readonly endpoint: string
  /** The share of traces that begin here and are kept; a caller's own decision wins. */
  readonly sampleRatio: number
  readonly version: string
}

/** A request that is never settled must not be held for ever; this many are open at once at most. */
const openSpansMax = 20_000

const propagator = new W3CTraceContextPropagator()

export function createOtlpTracing(options: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({ url: new URL('/v1/traces', options.endpoint).href })
  return createTracing(exporter, options)
}

export function createTracing(
  exporter: SpanExporter,
  { sampleRatio, version }: Omit<TracingOptions, 'endpoint'>,
): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'odyssey', 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('odyssey', version)
  const open = new Map<string, Span>()

  function take(requestId: string): Span | undefined {
    const span = open.get(requestId)
    open.delete(requestId)
    return span
  }

  return {
    begin(request) {
      const carrier = request.traceparent === null ? {} : { traceparent: request.traceparent }
      const context = propagator.extract(ROOT_CONTEXT, carrier, getter)
      const attributes = describeRequest(request)
      const span = tracer.startSpan(`chat ${request.model}`, { kind: SpanKind.SERVER, attributes }, context)
      if (open.size < openSpansMax) open.set(request.requestId, span)
      const onward: { traceparent?: string } = {}
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), onward, {
        set: (to, key, value) => Object.assign(to, { [key]: value }),
      })
      return onward.traceparent ?? null
    },
    record(record) {
      const span = take(record.requestId)
      if (span === undefined) return
      const endMs = Date.now()
      addPhases(record, endMs, (name, fromMs, toMs) => {
        tracer.startSpan(name, { startTime: fromMs }, trace.setSpan(ROOT_CONTEXT, span)).end(toMs)
      })
      span.setAttributes(describeRecord(record))
      if (record.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(endMs)
    },
    refuse(requestId, code) {
      const span = take(requestId)
      span?.setAttributes({ 'error.type': code }).setStatus({ code: SpanStatusCode.ERROR }).end()
    },
    close: () => provider.shutdown(),
  }
}

const getter = {
  keys: (carrier: object) => Object.keys(carrier),
  get: (carrier: { traceparent?: string }, key: string) => (key === 'traceparent' ? carrier.traceparent : undefined),
}

function describeRequest({ requestId, model, protocol, isStream, ...rest }: TracedRequest): Attributes {
  const { outputTokensMax, temperature } = rest
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'odyssey',
    'gen_ai.request.model': model,
    'gen_ai.request.stream': isStream,
    'odyssey.protocol': protocol,
    'odyssey.request_id': requestId,
    ...(outputTokensMax !== null && { 'gen_ai.request.max_tokens': outputTokensMax }),
    ...(temperature !== null && { 'gen_ai.request.temperature': temperature }),
  }
}

/** The conventions count what was cached as part of the input. */
function describeRecord({ model, outcome, reason, usage, costMicros }: GenerationRecord): Attributes {
  const { inputUncached, inputCacheRead, inputCacheWrite } = usage
  return {
    'gen_ai.response.model': model,
    'gen_ai.usage.input_tokens': inputUncached + inputCacheRead + inputCacheWrite,
    'gen_ai.usage.cache_read.input_tokens': inputCacheRead,
    'gen_ai.usage.cache_creation.input_tokens': inputCacheWrite,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.reasoning.output_tokens': usage.outputThinking,
    'odyssey.outcome': outcome,
    ...(outcome === 'finished' && reason !== null && { 'gen_ai.response.finish_reasons': [reason] }),
    ...(outcome === 'failed' && { 'error.type': reason ?? 'internal' }),
    ...(costMicros !== null && { 'odyssey.cost_micros': costMicros }),
  }
}

/** The parts of a request one after the other: waiting for a slot, reading the prompt, writing the answer. */
function addPhases(
  { queueMs, firstTokenMs, durationMs }: GenerationRecord,
  endMs: number,
  add: (name: string, fromMs: number, toMs: number) => void,
): void {
  const startMs = endMs - durationMs
  if (queueMs !== null) add('queue', startMs, startMs + queueMs)
  if (firstTokenMs === null) return
  add('prefill', startMs + (queueMs ?? 0), startMs + firstTokenMs)
  add('decode', startMs + firstTokenMs, endMs)
}
