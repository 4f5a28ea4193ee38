import type { OrganizationId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { rerate } from '../audits/rerate.ts'
import { readPrices, type NewPrice, type PriceParts } from './prices.ts'

const dayMs = 24 * 60 * 60 * 1_000
const daysMax = 30
/** Reading so many rows takes a second or two, in pages between which everything else goes on. */
const rowsMax = 200_000

export type PricePreview = {
  /** The first moment that was looked at: 30 days ago, or later where more requests lie between. */
  readonly fromMs: number
  readonly organizations: readonly {
    readonly organizationId: OrganizationId
    readonly requests: number
    readonly chargedPicos: bigint
    readonly wouldPicos: bigint
  }[]
}

type Parts = Pick<PriceParts, 'db' | 'clock' | 'currency'>
type Wanted = Pick<NewPrice, 'organizationId' | 'model' | 'rates'>

/** What the last requests for a model would have cost, had a price always been in force. Writes nothing. */
export async function previewPrice(parts: Parts, principal: Principal, wanted: Wanted): Promise<PricePreview> {
  requirePermission(principal, 'prices:read', { organizationId: null })
  const { db, clock, currency } = parts
  const { organizationId, model, rates } = wanted
  const others = (await readPrices(db, currency)).filter(
    (price) => price.fault === null && (price.model !== model || price.organizationId !== organizationId),
  )
  const always = { effectiveAtMs: 0, createdAtMs: 0, currency, fault: null }
  const prices = [...others, { id: 'price_preview' as const, ...wanted, rates, ...always }]
  const { fromMs, afterSequence } = await findRange(parts, clock.nowMs() - daysMax * dayMs)
  const sums = await rerate(db, prices, { organizationId, fromMs, afterSequence })
  return {
    fromMs,
    organizations: sums
      .filter((sum) => sum.model === model)
      .map(({ organizationId: whose, requests, chargedPicos, wouldPicos }) => {
        return { organizationId: whose as OrganizationId, requests, chargedPicos, wouldPicos }
      }),
  }
}

async function findRange({ db }: Pick<Parts, 'db'>, wantedFromMs: number) {
  const last = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.max('sequence').as('sequence'))
    .executeTakeFirst()
  const afterSequence = Math.max(0, Number(last?.sequence ?? 0) - rowsMax)
  if (afterSequence === 0) return { fromMs: wantedFromMs, afterSequence }
  const first = await db
    .selectFrom('ledger')
    .select('at')
    .where('sequence', '>', afterSequence)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
  return { fromMs: Math.max(wantedFromMs, Number(first?.at ?? 0)), afterSequence }
}
