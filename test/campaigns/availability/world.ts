// Gateways in a world whose time is the script's: what they write down of themselves is the product's own doing, and when
// they are killed, stopped or lied to about the time is the script's.

import { createLifeSigns, type LifeSigns } from '../../../src/billing/availability/life-signs.ts'
import { watchModels } from '../../../src/billing/availability/watch-models.ts'
import { modelIds } from '../../../src/core/model.ts'
import type { Database } from '../../../src/db/database.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../harness/manual-clock.ts'
import { isMute } from './truth.ts'
import type { Outage } from './script.ts'

export type World = {
  readonly time: ManualClock
  /** What is going on at this moment. */
  readonly now: Set<Outage>
  /** Writes fail while it is false, and are tried again. */
  isDatabaseThere: boolean
  readonly db: Database
}

export function createWorld(db: Database, startMs: number): World {
  const world: World = {
    time: createManualClock(startMs),
    now: new Set(),
    isDatabaseThere: true,
    db: new Proxy(db, {
      get(target, name) {
        if (name === 'transaction' && !world.isDatabaseThere) {
          return () => ({ execute: () => Promise.reject(new Error('away')) })
        }
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  }
  return world
}

export type Gateway = {
  readonly signs: LifeSigns
  /** How wrong its clock is. */
  clockErrorMs: number
  isThere(): boolean
  /** The process is gone, with all that it had not written. */
  kill(): void
  /** Lets nobody in any more, and ends in order. */
  stop(): Promise<void>
}

let boots = 0

export function startGateway(world: World): Gateway {
  let isGone = false
  let isStopping = false
  const { time } = world
  const clock: Clock = {
    nowMs: () => time.nowMs() + gateway.clockErrorMs,
    monotonicMs: () => time.monotonicMs(),
    after: (pauseMs, work) => time.after(pauseMs, () => (isGone ? undefined : work())),
  }
  boots += 1
  const log = createLog('silent')
  const signs = createLifeSigns({ db: world.db, clock, log, bootId: `boot_${boots}`, isStopping: () => isStopping })
  const ask = (model: string) => {
    const fault = [...world.now].find((outage) => isMute(outage, model))
    if (fault === undefined) return Promise.resolve('answered')
    return Promise.resolve(fault.kind === 'disk is full' ? 'overloaded' : 'engine-failed')
  }
  const gateway: Gateway = {
    signs,
    clockErrorMs: 0,
    isThere: () => !isGone && !isStopping,
    kill() {
      isGone = true
    },
    async stop() {
      isStopping = true
      await signs.close()
      isGone = true
    },
  }
  signs.begin()
  watchModels(signs, { clock, models: modelIds, ask, isStopping: () => isStopping })
  return gateway
}
