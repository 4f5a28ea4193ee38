import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { findUninvoicedFrom } from './uninvoiced.ts'

export type CurrencyParts = {
  readonly db: Database
  readonly clock: Clock
  /** The installation's, as its config file has it now. */
  readonly currency: string
}

/**
 * Throws where something in another currency waits for an invoice, which would have the amounts under another name: charges,
 * adjustments, and what was paid before and is not used up.
 */
export async function requireCurrency(parts: CurrencyParts): Promise<void> {
  const { db, clock, currency } = parts
  const fromMs = await findUninvoicedFrom(db, clock.nowMs())
  const charged = (await findCharged(parts, fromMs)) ?? (await findAdjusted(parts, fromMs))
  if (charged !== null) throw new UninvoicedCurrency(charged, currency)
  const paid = await findPaid(parts)
  if (paid !== null) throw new UnusedCurrency(paid, currency)
}

async function findCharged({ db, currency }: CurrencyParts, fromMs: number): Promise<string | null> {
  const foreign = await db.selectFrom('prices').select(['id', 'currency']).where('currency', '<>', currency).execute()
  if (foreign.length === 0) return null
  const row = await db
    .selectFrom('ledger')
    .innerJoin('prices', 'prices.id', 'ledger.price_id')
    .select('prices.currency')
    // By the index that begins with it: of years of rows only those of the last month are read.
    .where('ledger.organization_id', 'in', (query) => query.selectFrom('organizations').select('organizations.id'))
    .where('ledger.at', '>=', fromMs)
    .where('prices.currency', '<>', currency)
    .limit(1)
    .executeTakeFirst()
  return row?.currency ?? null
}

async function findAdjusted({ db, currency }: CurrencyParts, fromMs: number): Promise<string | null> {
  const row = await db
    .selectFrom('account_entries')
    .select(entryCurrency.as('currency'))
    .where('kind', '=', 'adjustment')
    .where('at', '>=', fromMs)
    .where(entryCurrency, '<>', currency)
    .limit(1)
    .executeTakeFirst()
  return row?.currency ?? null
}

/** What an entry is in. Where that was not kept it is what the last price before it was in: all prices of a time are in one. */
const entryCurrency = sql<string | null>`coalesce(account_entries.currency, (
  select prices.currency from prices where prices.created_at <= account_entries.at
  order by prices.created_at desc limit 1))`

type Paid = { readonly organization_id: string; readonly currency: string | null; readonly micros: string }

/**
 * What an organization has paid in another currency and not used up; null where nobody has. Of entries whose currency is not
 * known those count where the organization has no invoice in the new one yet: there it has been taken for that already.
 */
async function findPaid({ db, currency }: CurrencyParts): Promise<Paid | null> {
  const used = sql<number>`(
    select coalesce(sum(prepaid_micros), 0) from invoices
    where invoices.organization_id = account_entries.organization_id and invoices.currency <> ${currency})`
  const left = sql<number>`(sum(micros) - ${used})`
  const row = await db
    .selectFrom('account_entries')
    .select([
      'organization_id',
      sql<string | null>`min(${entryCurrency})`.as('currency'),
      sql<string>`cast(${left} as text)`.as('micros'),
    ])
    .where('kind', '=', 'prepayment')
    .where(entryCurrency, '<>', currency)
    .where(({ eb, or, not, exists, selectFrom }) =>
      or([
        eb('account_entries.currency', 'is not', null),
        not(
          exists(
            selectFrom('invoices')
              .select('number')
              .whereRef('invoices.organization_id', '=', 'account_entries.organization_id')
              .where('invoices.currency', '=', currency),
          ),
        ),
      ]),
    )
    .groupBy('organization_id')
    .having(left, '>', 0)
    .orderBy('organization_id')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
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

export class UnusedCurrency extends Error {
  override readonly name = 'UnusedCurrency'

  constructor({ organization_id: organizationId, currency: paid, micros }: Paid, currency: string) {
    super(
      `billing.currency is ${currency}, and ${organizationId} has paid ${Number(micros) / 1_000_000} ${paid} that no ` +
        `invoice has used up. Set it back to ${paid}: it can be changed once an invoice has taken the rest, which also an ` +
        'adjustment of the same amount does where it was paid back (docs/operations/billing.md).',
    )
  }
}
