import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { findUninvoicedFrom } from './uninvoiced.ts'

export type CurrencyParts = {
  readonly db: Database
  readonly clock: Clock
  /** The installation's, as its config file has it now. */
  readonly currency: string
}

/** Throws where charges in another currency wait for their invoices: these would have the amounts under another name. */
export async function requireCurrency({ db, clock, currency }: CurrencyParts): Promise<void> {
  const foreign = await db.selectFrom('prices').select(['id', 'currency']).where('currency', '<>', currency).execute()
  if (foreign.length === 0) return
  const row = await db
    .selectFrom('ledger')
    .innerJoin('prices', 'prices.id', 'ledger.price_id')
    .select('prices.currency')
    // By the index that begins with it: of years of rows only those of the last month are read.
    .where('ledger.organization_id', 'in', (query) => query.selectFrom('organizations').select('organizations.id'))
    .where('ledger.at', '>=', await findUninvoicedFrom(db, clock.nowMs()))
    .where('prices.currency', '<>', currency)
    .limit(1)
    .executeTakeFirst()
  if (row !== undefined) throw new UninvoicedCurrency(row.currency, currency)
}

export class UninvoicedCurrency extends Error {
  override readonly name = 'UninvoicedCurrency'

  constructor(charged: string, currency: string) {
    super(
      `billing.currency is ${currency}, and charges in ${charged} are not invoiced yet. Set it back to ${charged}: it can ` +
        'be changed once the invoices of the last month with such charges are written (docs/operations/billing.md).',
    )
  }
}
