import type { LedgerEntry } from '../../../src/billing/ledger/ledger-entry.ts'
import { chargeFor } from '../../../src/billing/prices/price.ts'
import type { PriceBook } from '../../../src/billing/prices/price-book.ts'
import type { Random } from '../../campaigns/random.ts'

export type EntryOptions = {
  readonly random: Random
  readonly prices: PriceBook
  /** Requests end in here. */
  readonly fromMs: number
  readonly toMs: number
  readonly organizations?: number
  readonly keys?: number
}

/** A ledger entry such as any request may leave, priced by the book. */
export function randomEntry(number: number, options: EntryOptions): LedgerEntry {
  const { random, prices, fromMs, toMs, organizations = 2, keys = 3 } = options
  const organization = random.integer(1, organizations)
  const key = random.integer(1, keys)
  const atMs = random.integer(fromMs, toMs - 1)
  const durationMs = random.integer(1, random.chance(0.2) ? 7_200_000 : 20_000)
  const admittedAtMs = atMs - durationMs
  const inputCacheWrite = random.integer(0, 3) === 0 ? random.integer(0, 5_000) : 0
  const output = random.integer(0, 2_000)
  const usage = {
    inputUncached: random.integer(0, 9_000),
    inputCacheRead: random.integer(0, 30_000),
    inputCacheWrite,
    inputCacheWriteLong: random.integer(0, inputCacheWrite),
    output,
    outputThinking: random.integer(0, output),
  }
  const model = random.pick(['clarke-1.0', 'hal-1.0', 'tycho-1.0'])
  const outcome = random.pick(['finished', 'finished', 'finished', 'aborted', 'failed'] as const)
  const organizationId = `org_${organization}` as const
  return {
    requestId: `req_${number}`,
    principal: {
      kind: 'api-key',
      apiKeyId: `key_${organization}_${key}`,
      organizationId,
      projectId: `proj_${organization}_${key % 2}`,
    },
    atMs,
    admittedAtMs,
    model,
    outcome,
    reason: outcome === 'finished' ? 'end' : null,
    usage,
    charge: chargeFor(prices.find(organizationId, model, admittedAtMs), usage, outcome),
    cache: null,
    firstEventMs: 1,
    firstTokenMs: Math.min(2, durationMs),
    durationMs,
  }
}
