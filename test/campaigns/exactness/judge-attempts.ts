// What the ledger may say of requests, by what their clients saw and by how the service ended. Nothing here is tolerance:
// where a client cannot know, as of an answer that it left, the rule says so.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { reconcile } from '../../../src/billing/audits/reconcile.ts'
import { verifyLedger } from '../../../src/billing/audits/verify-ledger.ts'
import type { LedgerRow } from '../../../src/billing/ledger/read-ledger.ts'
import { fromCostColumns } from '../../../src/billing/ledger/cost-columns.ts'
import type { Rates } from '../../../src/billing/prices/price.ts'
import { queryUsage } from '../../../src/billing/usage/query-usage.ts'
import { rollUp } from '../../../src/billing/usage/roll-up.ts'
import type { OrganizationId } from '../../../src/core/ids.ts'
import type { Database } from '../../../src/db/database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Failures } from '../campaign.ts'
import { expectedCost, ExpectedSums } from './expected-sums.ts'
import type { Attempt } from './play-attempt.ts'

export type Judging = {
  readonly db: Database
  readonly attempts: readonly Attempt[]
  /** How each life of the service ended, in their order. */
  readonly lives: readonly ('SIGTERM' | 'SIGKILL')[]
  readonly rates: ReadonlyMap<string, Rates>
  readonly failures: Failures
}

/** A request with what is known of it on both sides. */
type Known = Attempt & {
  readonly charge: LedgerRow | null
  readonly reversal: LedgerRow | null
  /** What the service that answered has noted of the answer, which no later one changes; null where that is nothing. */
  readonly mark: string | null
}

/** Returns how many charges are void. */
export async function judge(judging: Judging): Promise<number> {
  const { db, failures } = judging
  const rows = await db.selectFrom('ledger').selectAll().orderBy('sequence').execute()
  const charges = byName(rows, 'charge', failures)
  const reversals = byName(rows, 'reversal', failures)
  const marks = new Map(
    (await db.selectFrom('deliveries').selectAll().execute()).map((mark) => [mark.request_id, mark]),
  )
  const attempts = judging.attempts.map((attempt): Known => {
    const charge = charges.get(attempt.name) ?? null
    const mark = (charge === null ? null : marks.get(charge.request_id)?.state) ?? null
    return { ...attempt, charge, reversal: reversals.get(attempt.name) ?? null, mark }
  })
  const names = new Set(attempts.map(({ name }) => name))
  for (const name of [...charges.keys(), ...reversals.keys()]) {
    if (!names.has(name)) failures.add('A row of a request that nobody made.', name)
  }
  for (const sameBody of Map.groupBy(attempts, ({ body }) => body.number).values()) {
    for (const attempt of sameBody) {
      failures.check(describe(attempt, judging), () => {
        judgeCharge(attempt, judging)
        judgeReversal(attempt, sameBody)
      })
    }
  }
  await judgeSums(judging, rows)
  return reversals.size
}

function byName(rows: readonly LedgerRow[], kind: LedgerRow['kind'], failures: Failures): Map<string, LedgerRow> {
  const found = new Map<string, LedgerRow>()
  for (const row of rows) {
    if (row.kind !== kind) continue
    const name = row.client_request_id ?? `unnamed ${row.request_id}`
    if (found.has(name)) failures.add(`Two rows of kind ${kind}.`, name)
    found.set(name, row)
  }
  return found
}

function describe({ name, end, number, mark, instance }: Known, { lives }: Judging): string {
  return `${name} (${end}, sent before ${number} times, ${mark ?? 'nothing'} noted, ended by ${lives[instance]})`
}

function judgeCharge({ end, told, toldLong, mark, instance, charge }: Known, { lives, rates }: Judging): void {
  const isKilled = lives[instance] === 'SIGKILL'
  if (end === 'whole') {
    ok(charge !== null && told !== null, 'an answer that was read whole has no row')
    equal(charge.outcome, 'finished')
    const { input_uncached: uncached, input_cache_write: written, input_cache_read: read, output } = charge
    deepEqual({ uncached, written, read, output }, told, 'what is billed is what was told')
    if (toldLong !== null) equal(charge.input_cache_write_long, toldLong, 'what is kept for an hour')
    // Whoever is killed may not have written it yet, and nobody ever writes that it was lost.
    ok(mark === 'arrived' || (isKilled && mark === null), 'an answer that was read whole is not noted as such')
  }
  const isCut = end === 'cut' || end === 'nothing'
  if (isCut) ok(mark !== 'arrived', 'an answer that broke off is noted as arrived')
  if (charge === null) return
  // Turned away before a model began there is no row, and what the service breaks off costs nothing.
  const isOurs = end === 'refused' || (isCut && !isKilled)
  if (isOurs) equal(charge.outcome, 'failed', 'what the service ended is its own failure')
  const own = rates.get(charge.model)
  ok(own !== undefined)
  const wanted = charge.outcome === 'failed' ? 0n : expectedCost(own, charge)
  equal(fromCostColumns(charge), wanted, 'the cost')
}

/** A charge is void exactly if its answer did not arrive, and one to the same body that was sent again has. */
function judgeReversal({ charge, reversal, mark }: Known, sameBody: readonly Known[]): void {
  const isAnswered = sameBody.some((later) => {
    const isLater = later.charge !== null && charge !== null && later.charge.sequence > charge.sequence
    return isLater && later.number > 0 && later.charge.outcome === 'finished' && later.mark === 'arrived'
  })
  const isVoid = charge !== null && charge.outcome === 'finished' && mark !== 'arrived' && isAnswered
  equal(reversal !== null, isVoid, isVoid ? 'its charge is not void' : 'its charge is void')
  if (reversal === null || charge === null) return
  equal(fromCostColumns(reversal), -(fromCostColumns(charge) ?? 0n), 'a reversal takes exactly its charge back')
  equal(reversal.output, charge.output === 0 ? 0 : -charge.output)
}

async function judgeSums({ db, failures }: Judging, rows: readonly LedgerRow[]): Promise<void> {
  const expected = new ExpectedSums()
  for (const row of rows) expected.add(row)
  await rollUp(db)
  const organizations = [...new Set(rows.map(({ organization_id: id }) => id))]
  let cost = 0n
  let counts = [0n, 0n]
  for (const organizationId of organizations) {
    const [requests, reversed, costPicos] = await readWhole(db, organizationId)
    cost += costPicos
    counts = [(counts[0] ?? 0n) + requests, (counts[1] ?? 0n) + reversed]
  }
  failures.check('the sums after stops', () => {
    const { requests, reversed, cost_picos: wanted } = expected.whole
    deepEqual([...counts, cost], [requests, reversed, wanted])
  })
  const { differences } = await reconcile({ db, clock: systemClock }, () => Promise.resolve())
  failures.check('reconciliation after stops', () => deepEqual(differences, []))
  const verdict = await verifyLedger({ db, currency: 'USD' }, ({ subject, fault }) => failures.add(fault, subject))
  failures.check('bill verify after stops', () => {
    deepEqual([verdict.rows, verdict.costPicos, verdict.faults], [rows.length, expected.whole.cost_picos, 0])
  })
}

async function readWhole(db: Database, organizationId: OrganizationId): Promise<[bigint, bigint, bigint]> {
  const whole = { bucket: 'whole', groupBy: null, fromMs: 0, toMs: null, limit: 1, cursor: null } as const
  const [row] = (await queryUsage(db, { ...whole, organizationId })).rows
  return [BigInt(row?.requests ?? 0), BigInt(row?.reversed ?? 0), row?.costPicos ?? 0n]
}
