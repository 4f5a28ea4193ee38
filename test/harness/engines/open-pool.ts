import { systemClock, type Clock } from '../../../src/lib/clock.ts'
import { PoolEngine, type PoolEngineOptions } from '../../../src/models/fleet/pools/pool-engine.ts'
import { ReportedEngine, type ReportedEngineOptions } from '../../../src/models/fleet/pools/reported-engine.ts'
import { vocabularyOnly } from '../../../src/models/fleet/pools/remote-pools.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { compileCache } from '../as-launched.ts'
import { until } from '../start-service.ts'
import { placeholderPath } from './placeholder-path.ts'
import type { StandIn } from './stand-in.ts'

type Member = Pick<StandIn, 'address'> & { readonly kind?: PoolEngineOptions['replicas'][number]['kind'] }

/** Ten times as fast as real time, so that pauses of seconds are tests of tenths. */
const fastClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now() * 10,
  after: (pauseMs, work) => systemClock.after(pauseMs / 10, work),
}

/** A pool of stand-ins with the placeholder's vocabulary, ready for requests. */
export async function openPool(
  members: readonly Member[],
  changes: Partial<PoolEngineOptions> = {},
): Promise<PoolEngine> {
  const engine = new PoolEngine({
    name: 'test',
    replicas: members.map(({ address, kind = 'llama-server' }) => ({
      url: address,
      kind,
      key: null,
      runningMax: null,
    })),
    retries: 2,
    resume: 'temperature-0',
    sharedCache: false,
    windowTokensMax: null,
    text: {
      settings: vocabularyOnly(placeholderPath),
      environment: { PATH: process.env['PATH'] ?? '', ...compileCache },
      clock: systemClock,
      onExit: () => {},
      onOutput: () => {},
    },
    clock: fastClock,
    log: createLog('silent'),
    readyWaitMsMax: 600_000,
    random: Math.random,
    ...changes,
  })
  await until(() => engine.replicas.every(({ health }) => health.state === 'up'), 'The pool is not ready.', 60_000)
  return engine
}

type Server = { readonly address: string; readonly kind: ReportedEngineOptions['replicas'][number]['kind'] }

/** A pool of servers that take messages, ready for requests. */
export async function openReportedPool(
  servers: readonly Server[],
  changes: Partial<ReportedEngineOptions> = {},
): Promise<ReportedEngine> {
  const engine = new ReportedEngine({
    name: 'test',
    replicas: servers.map(({ address, kind }) => ({ url: address, kind, key: null, runningMax: null, model: null })),
    retries: 2,
    windowTokensMax: null,
    clock: fastClock,
    log: createLog('silent'),
    readyWaitMsMax: 600_000,
    random: Math.random,
    ...changes,
  })
  await until(() => engine.replicas.every(({ health }) => health.state === 'up'), 'The pool is not ready.', 60_000)
  return engine
}
