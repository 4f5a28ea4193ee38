import { createRefusals, type LiveRefusals } from '../../../src/billing/refusals/refusals.ts'
import type { LedgerEntry } from '../../../src/billing/ledger/ledger-entry.ts'
import { ApiError } from '../../../src/core/error.ts'
import { zeroUsage } from '../../../src/core/generation.ts'
import { modelIds } from '../../../src/core/model.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import type { Random } from '../random.ts'
import { isAway } from './truth.ts'
import type { Happened } from './truth.ts'
import type { Gateway, World } from './world.ts'

/** The first of them has agreed on how long a first token may take; the other has not. */
export const organizations = ['org_agreed', 'org_other'] as const
export type AskingOrganization = (typeof organizations)[number]
export const agreedMs = 2_000

/** Organizations that ask, as the script says what becomes of it. */
export class Traffic {
  readonly happened: Happened[] = []
  /** The rows they leave in the ledger. */
  readonly entries: LedgerEntry[] = []
  readonly refusals: LiveRefusals
  readonly #world: World
  readonly #random: Random

  constructor(world: World, random: Random) {
    this.#world = world
    this.#random = random
    const { db, time: clock } = world
    this.refusals = createRefusals({
      db,
      clock,
      log: createLog('silent'),
      metrics: { turnedAway: () => {}, judged: () => {} },
    })
  }

  /** The requests of ten seconds. */
  ask(gateways: readonly Gateway[], perMinute: number): void {
    const gateway = gateways.find(({ clockErrorMs, isThere }) => clockErrorMs === 0 && isThere())
    // Whoever finds nobody leaves no trace; the hearts that do not beat tell of it.
    if (gateway === undefined || [...this.#world.now].some(isAway)) return
    for (const organizationId of organizations) {
      for (const model of modelIds) {
        const count = Math.floor(perMinute / 6 + this.#random.next())
        for (let number = 0; number < count; number += 1) this.#askOne(gateway, organizationId, model)
      }
    }
  }

  /** Callers that do everything wrong. */
  storm(count: number): void {
    for (let number = 0; number < count; number += 1) {
      const organizationId = this.#random.pick(organizations)
      const model = this.#random.pick(modelIds)
      const error = this.#random.pick([
        new ApiError({ code: 'rate-limited', retryAfterMs: 1_000 }, 'too many'),
        new ApiError({ code: 'budget-exceeded' }, 'spent'),
        new ApiError({ code: 'invalid-request', path: null, fault: null }, 'what?'),
      ])
      this.refusals.count(organizationId, error, model)
      // What was refused after the engine had begun has a row.
      if (number % 100 === 0) this.#record(organizationId, model, { outcome: 'failed', reason: 'context-exceeded' })
    }
  }

  #askOne(gateway: Gateway, organizationId: AskingOrganization, model: string): void {
    const faults = [...this.#world.now]
    const tell = (isBad: boolean) => {
      this.happened.push({ organizationId, model, atMs: this.#world.time.nowMs(), isBad })
    }
    if (faults.some(({ kind }) => kind === 'disk is full')) {
      const error = new ApiError({ code: 'overloaded', retryAfterMs: 5_000 }, 'cannot be recorded')
      this.refusals.count(organizationId, error, model)
      return tell(true)
    }
    if (faults.some((outage) => outage.kind === 'engine fails' && outage.model === model)) {
      this.#record(organizationId, model, { outcome: 'failed', reason: 'engine-failed' })
      return tell(true)
    }
    gateway.signs.seen(model)
    const isSlow = faults.some((outage) => outage.kind === 'first tokens are slow' && outage.model === model)
    const firstTokenMs = isSlow ? agreedMs + this.#random.integer(1, 60_000) : this.#random.integer(1, agreedMs)
    const hasLeft = this.#random.chance(0.1)
    // Some leave before the first token, and were let down only if they had waited for longer than was agreed.
    const left = { outcome: 'aborted', reason: 'client-left', firstTokenMs: null, durationMs: firstTokenMs } as const
    this.#record(organizationId, model, hasLeft ? left : { outcome: 'finished', reason: 'end', firstTokenMs })
    tell(isSlow && organizationId === 'org_agreed')
  }

  #record(
    organizationId: AskingOrganization,
    model: string,
    what: Pick<LedgerEntry, 'outcome' | 'reason'> & Partial<LedgerEntry>,
  ): void {
    const atMs = this.#world.time.nowMs()
    this.entries.push({
      requestId: `req_${this.entries.length}`,
      principal: { kind: 'api-key', apiKeyId: 'key_1', organizationId, projectId: 'proj_1' },
      atMs,
      admittedAtMs: atMs,
      model,
      usage: zeroUsage,
      charge: null,
      cache: null,
      firstEventMs: null,
      firstTokenMs: null,
      durationMs: 100_000,
      ...what,
    })
  }
}
