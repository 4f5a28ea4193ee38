import type { Config } from '../../config/schema.ts'
import { startMetricsServer, type MetricsServer } from '../../http/metrics-server.ts'
import { statusOf, type Catalog } from '../../models/catalog.ts'
import { pause, systemClock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { RemotePools } from '../../models/fleet/pools/remote-pools.ts'
import type { ReplicaNumbers } from '../../telemetry/measure-engines.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import { noTracing, type Tracing } from '../../telemetry/trace.ts'
import { readVersion } from '../read-version.ts'

/** A collector that does not answer must not hold the end of the service up. */
const closeMsMax = 2_000

export type Telemetry = { readonly metrics: Metrics; readonly tracing: Tracing; close(): Promise<void> }

type TelemetryParts = { readonly catalog: Catalog; readonly pools: RemotePools; readonly log: Log }

/** Numbers on a port of their own and spans to a collector, as far as the settings ask for them. */
export async function openTelemetry(config: Config, { catalog, pools, log }: TelemetryParts): Promise<Telemetry> {
  const version = readVersion()
  const readEngines = () => catalog.list().map(({ model, ...lane }) => ({ model: model.id, status: statusOf(lane) }))
  const readReplicas = pools.all.length === 0 ? {} : { readReplicas: () => readReplicaNumbers(pools) }
  const metrics = createMetrics({ version, readEngines, ...readReplicas })
  const server = await openMetricsServer(config, metrics, log)
  const tracing = await openTracing(config, version)
  return {
    metrics,
    tracing,
    async close() {
      await server?.close()
      await Promise.race([tracing.close().catch(() => {}), pause(systemClock, closeMsMax)])
    },
  }
}

function readReplicaNumbers(pools: RemotePools): ReplicaNumbers[] {
  return pools.all.flatMap(({ engine }) =>
    engine.replicas.map(({ id, health, load, isDraining }) => ({
      pool: engine.name,
      replica: new URL(id).host,
      isUp: health.state === 'up' && !isDraining,
      running: load.running,
      outstandingTokens: load.outstanding,
      tokensPerSecond: load.tokensPerSecond,
      hitRate: load.hitRate,
    })),
  )
}

async function openMetricsServer({ metrics }: Config, source: Metrics, log: Log): Promise<MetricsServer | null> {
  const { host, port } = metrics
  if (port === null) return null
  const server = await startMetricsServer(source, { host, port }).catch((error: unknown) => {
    throw new Error(`The port of the metrics, ${port} on ${host}, cannot be opened.`, { cause: error })
  })
  log.info({ address: server.address }, 'metrics')
  return server
}

/** Most installs send no spans, so what sends them is loaded only where it is wanted. */
async function openTracing({ traces }: Config, version: string): Promise<Tracing> {
  const { endpoint, sampleRatio } = traces
  if (endpoint === null) return noTracing
  const { createOtlpTracing } = await import('../../telemetry/otlp-tracing.ts')
  return createOtlpTracing({ endpoint, sampleRatio, version })
}
