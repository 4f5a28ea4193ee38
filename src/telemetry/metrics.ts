import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { SinkKind } from '../core/alert-topic.ts'
import { modelIds, type ModelId } from '../core/model.ts'
import { verdicts, type RefusalClass, type Verdict } from '../core/refusal.ts'
import type { GenerationRecord } from './generation-record.ts'
import { measureEngines, measureReplicas, type EngineNumbers, type ReplicaNumbers } from './measure-engines.ts'

/**
 * Numbers for Prometheus.
 *
 * Every label takes its values from a list in the code: nothing that a client
 * sends can add a series.
 */
export interface Metrics {
  answered(answer: AnsweredRequest): void
  generated(record: GenerationRecord): void
  /** A request that was refused or failed, by the code of its error. */
  refused(code: string): void
  /** A request that was turned away before anything was computed for it. */
  turnedAway(refusal: RefusalClass): void
  /** A request that counts for availability, whose caller has not caused its failure. */
  judged(model: ModelId, verdict: Verdict): void
  recorded(ledgerMs: number, isWritten: boolean): void
  /** The sinks of the audit that are enabled, as they are now. */
  sinksSeen(sinks: readonly SinkNumbers[]): void
  /** Rows and checkpoints that a sink has taken. */
  auditPushed(kind: SinkKind, events: number): void
  /** What surrounds the service, as it is now. */
  signsSeen(signs: Signs & { readonly isAuditBroken: boolean | null }): void
  /** The text that Prometheus reads. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

export type AnsweredRequest = {
  /** The path as the route table has it, or `other`. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
}

export type MetricsOptions = {
  readonly version: string
  /** Asked at every scrape. */
  readEngines(): readonly EngineNumbers[]
  /** The replicas of pools, as the config file names them. */
  readReplicas?(): readonly ReplicaNumbers[]
}

/** How far a sink of the audit is behind. */
export type SinkNumbers = {
  /** As the config file has it; null for one that somebody made, whose names are no list in the code. */
  readonly name: string | null
  readonly rows: number
  /** How long the first row that it was not given has waited. */
  readonly lagMs: number
  readonly isFailing: boolean
}

/** What surrounds the service and ends it if nobody looks. */
export type Signs = {
  /** Of the data folder's disk, as far as this user may fill it. */
  readonly diskBytes: number
  readonly diskBytesLeft: number
  /** Rows of the ledger that wait for PostgreSQL. */
  readonly spoolBytes: number
  /** Null where there is no certificate, or it could not be looked at. */
  readonly certificateEndsAtMs: number | null
}

/** Waits and answers take from a millisecond to many minutes. */
const secondBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const perTokenBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** How often the delay of the event loop is looked at; at the library's own 10 ms that woke an idle service a hundred times a second. */
const eventLoopLookMs = 50

export function createMetrics({ version, readEngines, readReplicas }: MetricsOptions): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLookMs })
  const buildInfo = { name: 'odyssey_build_info', help: 'Always 1.', labelNames: ['version'], registers: [registry] }
  new Gauge(buildInfo).set({ version }, 1)
  measureEngines(registry, readEngines)
  if (readReplicas !== undefined) measureReplicas(registry, readReplicas)
  const http = createHttpMetrics(registry)
  const generations = createGenerationMetrics(registry)
  const ledger = createLedgerMetrics(registry)
  const sinks = createSinkMetrics(registry)
  const signs = createSignMetrics(registry)
  return {
    ...http,
    ...generations,
    ...ledger,
    ...sinks,
    ...signs,
    expose: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}

/** What is not known keeps its last value. */
function createSignMetrics(registry: Registry): Pick<Metrics, 'signsSeen'> {
  const gauge = (name: string, help: string) => new Gauge({ name: `odyssey_${name}`, help, registers: [registry] })
  const disk = gauge('disk_bytes', 'What the disk of the data folder holds, as far as this user may fill it.')
  const left = gauge('disk_free_bytes', 'What is left of it.')
  const spool = gauge('ledger_spool_bytes', 'Rows of the ledger that wait in the data folder for PostgreSQL.')
  const broken = gauge('audit_broken', '1 while an audit does not go on from what was signed.')
  const ends = gauge(
    'certificate_ends_at_seconds',
    'When the certificate of server.publicUrl ends; 0 where there is none.',
  )
  return {
    signsSeen({ diskBytes, diskBytesLeft, spoolBytes, certificateEndsAtMs, isAuditBroken }) {
      disk.set(diskBytes)
      left.set(diskBytesLeft)
      spool.set(spoolBytes)
      if (certificateEndsAtMs !== null) ends.set(certificateEndsAtMs / 1_000)
      if (isAuditBroken !== null) broken.set(Number(isAuditBroken))
    },
  }
}

function createHttpMetrics(registry: Registry): Pick<Metrics, 'answered' | 'refused' | 'turnedAway' | 'judged'> {
  const registers = [registry]
  const requests = new Counter({
    name: 'odyssey_http_requests_total',
    help: 'Requests by route and status; 499 where the client left first.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'odyssey_http_request_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: secondBuckets,
    registers,
  })
  const refusals = new Counter({
    name: 'odyssey_errors_total',
    help: 'Errors that clients were told of, by code.',
    labelNames: ['code'],
    registers,
  })
  const turnedAway = new Counter({
    name: 'odyssey_requests_refused_total',
    help: 'Requests for answers and counts that were turned away, by class; they have no row in the ledger.',
    labelNames: ['class'],
    registers,
  })
  const judged = new Counter({
    name: 'odyssey_sli_requests_total',
    help: 'Requests that count for availability, by how they went; all but good ones are bad.',
    labelNames: ['model', 'class'],
    registers,
  })
  // A series that began with its first failure would hide it: rates are of two numbers.
  for (const model of modelIds) for (const verdict of verdicts) judged.inc({ model, class: verdict }, 0)
  return {
    answered({ route, method, status, durationMs }) {
      requests.inc({ route, method, status: String(status) })
      seconds.observe({ route }, durationMs / 1_000)
    },
    refused: (code) => refusals.inc({ code }),
    turnedAway: (refusal) => turnedAway.inc({ class: refusal }),
    judged: (model, verdict) => judged.inc({ model, class: verdict }),
  }
}

function createGenerationMetrics(registry: Registry): Pick<Metrics, 'generated'> {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name: `odyssey_${name}`, help, labelNames: [...labelNames], registers })
  const histogram = (name: string, help: string, buckets = secondBuckets) =>
    new Histogram({ name: `odyssey_${name}`, help, labelNames: ['model'], buckets, registers })

  const ended = counter('generations_total', 'Generations that are over.', ['model', 'outcome', 'reason'])
  const tokens = counter('tokens_total', 'Tokens by kind; the input kinds do not overlap.', ['model', 'kind'])
  const thinking = counter('thinking_tokens_total', 'The part of the output that was thinking.', ['model'])
  const cost = counter('cost_micros_total', 'What was charged, in millionths of the unit of money.', ['model'])
  const queue = histogram('queue_seconds', 'From admission to a slot.')
  const prefill = histogram('prefill_seconds', 'From the slot to the first token.')
  const first = histogram('first_token_seconds', 'From admission to the first token.')
  const whole = histogram('generation_seconds', 'From admission to the end.')
  const perToken = histogram('output_token_seconds', 'Mean time per output token after the first.', perTokenBuckets)

  return {
    generated({ model, outcome, reason, usage, costMicros, ...times }) {
      ended.inc({ model, outcome, reason: reason ?? 'none' })
      tokens.inc({ model, kind: 'input_uncached' }, usage.inputUncached)
      tokens.inc({ model, kind: 'input_cache_read' }, usage.inputCacheRead)
      tokens.inc({ model, kind: 'input_cache_write' }, usage.inputCacheWrite)
      tokens.inc({ model, kind: 'output' }, usage.output)
      thinking.inc({ model }, usage.outputThinking)
      if (costMicros !== null) cost.inc({ model }, costMicros)
      if (times.queueMs !== null) queue.observe({ model }, times.queueMs / 1_000)
      if (times.prefillMs !== null) prefill.observe({ model }, times.prefillMs / 1_000)
      whole.observe({ model }, times.durationMs / 1_000)
      if (times.firstTokenMs === null) return
      first.observe({ model }, times.firstTokenMs / 1_000)
      const decodeMs = times.durationMs - times.firstTokenMs
      if (usage.output > 1) perToken.observe({ model }, decodeMs / 1_000 / (usage.output - 1))
    },
  }
}

function createLedgerMetrics(registry: Registry): Pick<Metrics, 'recorded'> {
  const seconds = new Histogram({
    name: 'odyssey_ledger_append_seconds',
    help: 'Until a row was on the disk.',
    buckets: secondBuckets,
    registers: [registry],
  })
  const failures = new Counter({
    name: 'odyssey_ledger_failures_total',
    help: 'Rows that could not be written; their requests failed.',
    registers: [registry],
  })
  return {
    recorded(ledgerMs, isWritten) {
      if (isWritten) seconds.observe(ledgerMs / 1_000)
      else failures.inc()
    },
  }
}

function createSinkMetrics(registry: Registry): Pick<Metrics, 'sinksSeen' | 'auditPushed'> {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `odyssey_audit_sink_${name}`, help, labelNames: ['sink'], registers: [registry] })
  const rows = gauge(
    'lag_rows',
    'Rows of the audit that a sink has yet to be given; of those that were made, the most.',
  )
  const seconds = gauge('lag_seconds', 'How long the first of them has waited.')
  const failing = gauge('failing', 'Sinks whose last attempt has failed.')
  const pushed = new Counter({
    name: 'odyssey_audit_pushed_total',
    help: 'Rows and checkpoints of the audit that sinks have taken.',
    labelNames: ['kind'],
    registers: [registry],
  })
  return {
    sinksSeen(sinks) {
      for (const one of [rows, seconds, failing]) one.reset()
      for (const [sink, own] of Map.groupBy(sinks, ({ name }) => name ?? 'made')) {
        rows.set({ sink }, Math.max(...own.map((one) => one.rows)))
        seconds.set({ sink }, Math.max(...own.map(({ lagMs }) => lagMs / 1_000)))
        failing.set({ sink }, own.filter(({ isFailing }) => isFailing).length)
      }
    },
    auditPushed: (kind, events) => pushed.inc({ kind }, events),
  }
}
