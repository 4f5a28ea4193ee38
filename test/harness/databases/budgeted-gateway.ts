import { setTimeout as sleep } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { Home } from '../../../src/accounts/organizations.ts'
import { createLedger } from '../../../src/billing/ledger/ledger.ts'
import type { LedgerEntry } from '../../../src/billing/ledger/ledger-entry.ts'
import { createDirectLedgerWriter } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { zeroUsage } from '../../../src/core/generation.ts'
import type { RequestId } from '../../../src/core/ids.ts'
import { picosPerMicro } from '../../../src/core/money.ts'
import type { Database } from '../../../src/db/database.ts'
import type { BudgetTable } from '../../../src/db/tables/limits.ts'
import { createReadSpent, readBudgetUse, type BudgetUse } from '../../../src/inference/read-spent.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createSharedAllowances } from '../../../src/limits/leases/shared-allowances.ts'
import { openLimits, type Limits } from '../../../src/limits/open-limits.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { openTestFeed } from './change-feed.ts'
import { budgetOf } from './limiter.ts'

const clock = systemClock
let requests = 0

/** A gateway that has its limits and the ledger, and nothing else. */
export type Gateway = { readonly limits: Limits; readonly db: Database; leave(): Promise<void> }

export async function openGateway(db: Database, isShared: boolean): Promise<Gateway> {
  const feed = openTestFeed(db, clock)
  const limits = await openLimits({
    db,
    feed,
    clock,
    log: createLog('silent'),
    readSpent: createReadSpent(db),
    requestsPerKeyMax: null,
    ...(isShared && { shared: createSharedAllowances({ db, clock, onError() {} }) }),
  })
  const leave = async () => {
    await limits.close()
    await feed.close()
  }
  return { limits, db, leave }
}

export type Request = { readonly reserved: { micros: number; tokens: number }; end(share: number): Promise<void> }

/** A request that costs a micro-unit a token, admitted and not ended. */
export async function begin(
  { limits, db }: Pick<Gateway, 'limits' | 'db'>,
  home: Home,
  most: number,
): Promise<Request> {
  const requestId: RequestId = `req_budgeted_${++requests}`
  const principal = { kind: 'api-key', apiKeyId: 'key_1', ...home } as const
  const admission = await limits.admit({ principal, model: 'clarke-1.0', requestId })
  const worstCaseMicros = (output: number) => 10 + output
  await admission.reserve({ inputTokens: 10, outputTokensMax: most, isOutputChosen: true, worstCaseMicros })
  const end = async (share: number) => {
    const usage = { ...zeroUsage, inputUncached: 10, output: Math.floor(most * share) }
    const entry = entryOf(requestId, principal, usage)
    await createLedger(createDirectLedgerWriter(db)).append(entry)
    await sleep(Math.floor(share * 4))
    admission.settle({ usage, costPicos: costOf(usage), atMs: entry.atMs })
  }
  return { reserved: { micros: 10 + most, tokens: 10 + most }, end }
}

function costOf({ inputUncached, output }: LedgerEntry['usage']): bigint {
  return BigInt(inputUncached + output) * picosPerMicro
}

function entryOf(requestId: RequestId, principal: LedgerEntry['principal'], usage: LedgerEntry['usage']): LedgerEntry {
  const atMs = clock.nowMs()
  return {
    requestId,
    principal,
    atMs,
    admittedAtMs: atMs,
    model: 'clarke-1.0',
    outcome: 'finished',
    reason: 'end',
    usage,
    charge: { priceId: 'price_1', costPicos: costOf(usage) },
    cache: null,
    firstEventMs: 1,
    firstTokenMs: 1,
    durationMs: 1,
  }
}

/** What the ledger holds of a budget in the period that it is. */
export function readUse(db: Database, home: Home, budget: Selectable<BudgetTable>): Promise<BudgetUse> {
  const { period, subject_kind: kind, subject_id: id } = budget
  const subject = { kind, id } as never
  return readBudgetUse(db, { ...budgetOf({ period, subject }), organizationId: home.organizationId }, clock.nowMs())
}
