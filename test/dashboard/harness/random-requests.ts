import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { toCharge, toReversal } from '../../../src/billing/ledger/ledger.ts'
import type { NewLedgerRow } from '../../../src/billing/ledger/writer/ledger-writer.ts'
import { createPriceBook } from '../../../src/billing/prices/price-book.ts'
import { readPrices } from '../../../src/billing/prices/prices.ts'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../../src/core/ids.ts'
import { modelIds } from '../../../src/core/model.ts'
import type { Database } from '../../../src/db/database.ts'
import { createRandom } from '../../campaigns/random.ts'
import { randomEntry } from '../../harness/databases/ledger-entries.ts'

export type KeyPlace = { readonly apiKeyId: ApiKeyId; readonly projectId: ProjectId }

export type RandomRequests = {
  readonly count: number
  readonly seed: number
  readonly organizationId: OrganizationId
  /** Each request is of one of these. */
  readonly keys: readonly KeyPlace[]
  /** Each request ends in one of these times, `to` left out. */
  readonly times: readonly { readonly fromMs: number; readonly toMs: number }[]
}

/** A statement of SQLite takes 32,766 values, and a row has some forty. */
const rowsAtOnce = 500

/** Not whole for a single token, so that no cost is a whole number of micro-units. */
const rates = {
  input: 3_000_003,
  cache_read: 300_001,
  cache_write_short: 3_750_000,
  cache_write_long: 6_000_000,
  output: 15_000_001,
}

/**
 * Writes requests into the ledger of a service: every model, format, outcome and kind of cache, some without a price and
 * some voided a while later. Returns the rows, as the ledger has them.
 */
export async function writeRandomRequests(db: Database, wanted: RandomRequests): Promise<readonly NewLedgerRow[]> {
  const { count, seed, organizationId, keys, times } = wanted
  const random = createRandom(seed)
  const [priced, other] = modelIds
  for (const model of [priced, other]) {
    const own = { id: `price_${model}`, organization_id: null, model, currency: 'USD', is_end: 0 } as const
    await db
      .insertInto('prices')
      .values({ ...own, ...rates, effective_at: 1, created_at: 1 })
      .execute()
  }
  const prices = createPriceBook(await readPrices(db, 'USD'))
  const rows = Array.from({ length: count }, (_, number): NewLedgerRow => {
    const entry = randomEntry(number, { random, prices, ...random.pick(times), organizations: 1 })
    const principal = { ...entry.principal, ...random.pick(keys), organizationId }
    const protocol = random.pick(['chat-completions', 'messages'])
    const origin = { protocol, isStream: random.chance(0.5), clientRequestId: null, bodyHash: null }
    return toCharge({ ...entry, principal, origin })
  })
  const isVoided = ({ outcome }: NewLedgerRow) => outcome !== 'failed' && random.chance(0.03)
  const voided = rows.filter(isVoided).map((row) => toReversal(row, row.at + random.integer(1_000, 4_000_000)))
  const all = [...rows, ...voided]
  for (let from = 0; from < all.length; from += rowsAtOnce) await insertRows(db, all.slice(from, from + rowsAtOnce))
  return all
}
