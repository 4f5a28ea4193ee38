import { z } from 'zod'
import { previewPrice } from '../../../billing/prices/preview-price.ts'
import { toMicrosText } from '../../../core/money.ts'
import type { Price } from '../../../billing/prices/price.ts'
import { findPriceCourse, type PriceStep } from '../../../billing/prices/price-course.ts'
import { notFound } from '../../../core/permission.ts'
import {
  ForeignCurrency,
  listPrices,
  readPrices,
  NotVoidable,
  ratesSchema,
  setPrice,
  TooEarly,
  voidPrice,
} from '../../../billing/prices/prices.ts'
import { conflict } from '../../../core/error.ts'
import { modelIds } from '../../../core/model.ts'
import { requireOrganization } from '../../../accounts/organizations.ts'
import { pageOfAll } from '../cursor.ts'
import { InvalidFields } from '../problem.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  costMicros,
  givenTime,
  id,
  model,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  time,
  toPage,
  toTime,
} from '../schemas.ts'

const priceId = id('price')
const rates = ratesSchema.nullable().describe('Micro-units per million tokens; null ends the price that was in force.')
const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe('As in ISO 4217.')

const price = z
  .strictObject({
    id: priceId,
    organizationId: organizationId.nullable().describe('Null is everyone without a price of their own.'),
    model: z.string(),
    currency,
    effectiveAt: time,
    rates,
    createdAt: time,
    fault: z.string().nullable().describe('Why it cannot be used; requests it is for are refused.'),
  })
  .meta({ id: 'Price' })

const newPrice = z
  .strictObject({
    organizationId: organizationId.nullable().default(null),
    model,
    currency: currency.optional().describe('The one of the installation, which is meant where this is left out.'),
    effectiveAt: givenTime.nullable().default(null).describe('Null is as soon as possible.'),
    rates,
  })
  .meta({ id: 'NewPrice' })

const rate = z.int().min(0).describe('Micro-units per million tokens.')
const previewQuery = z.strictObject({
  model,
  organizationId: organizationId.optional().describe('Without one, for everyone without a price of their own.'),
  input: rate,
  cacheRead: rate,
  cacheWriteShort: rate,
  cacheWriteLong: rate,
  output: rate,
})

const preview = z
  .strictObject({
    from: time.describe(
      'The first moment that was looked at: 30 days ago, or later where there are very many requests.',
    ),
    chargedMicros: costMicros,
    wouldMicros: costMicros,
    organizations: z.array(
      z.strictObject({
        organizationId,
        name: z.string(),
        requests: z.int(),
        chargedMicros: costMicros,
        wouldMicros: costMicros,
      }),
    ),
  })
  .meta({ id: 'PricePreview' })

const publicRates = z.strictObject({ rates, effectiveAt: time })
const publicPrice = z
  .strictObject({
    model,
    current: publicRates.nullable().describe('Null where requests cost nothing.'),
    announced: z.array(publicRates).describe('Each later moment from which on requests cost something else.'),
  })
  .meta({ id: 'PublicPrice' })

/** What a model costs whoever has no price of their own. */
function describePublicly(
  prices: readonly Price[],
  which: (typeof modelIds)[number],
  nowMs: number,
): z.input<typeof publicPrice> {
  const { current, announced } = findPriceCourse(prices, { organizationId: null, model: which, nowMs })
  const shown = ({ rates: asked, fromMs }: PriceStep) => ({ rates: asked, effectiveAt: toTime(fromMs) })
  return {
    model: which,
    current: current === null || current.rates === null ? null : shown(current),
    announced: announced.map(shown),
  }
}

function show({ effectiveAtMs, createdAtMs, ...rest }: Price): z.input<typeof price> {
  return { ...rest, effectiveAt: toTime(effectiveAtMs), createdAt: toTime(createdAtMs) }
}

/** By when they are in force; of two for the same moment the later one counts. */
function placeOf({ effectiveAtMs, createdAtMs, id: own }: Price): string {
  const [from, made] = [effectiveAtMs, createdAtMs].map((ms) => String(ms).padStart(15, '0'))
  return `${from}-${made}-${own}`
}

const example = {
  model: 'clarke-1.0',
  effectiveAt: '2099-01-01T00:00:00Z',
  rates: { input: 200_000, cacheRead: 20_000, cacheWriteShort: 250_000, cacheWriteLong: 400_000, output: 800_000 },
}

export const priceRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/prices',
    permission: 'prices:read',
    scope: 'own',
    summary: 'List the prices of everyone and one’s own, by when they are in force',
    params: nowhere,
    query: pageQuery.extend({
      model: model.optional(),
      organizationId: organizationId
        .optional()
        .describe('Whose own prices are listed, for people in several organizations and for the installation.'),
    }),
    answer: pageOf(price),
    async work({ parts, principal, query: { model: which, organizationId: whose, ...query } }) {
      const listed = await listPrices(parts.accounts, principal)
      const prices = listed
        .filter((item) => which === undefined || item.model === which)
        .filter((item) => whose === undefined || item.organizationId === null || item.organizationId === whose)
      return toPage(pageOfAll(prices, query, placeOf), show)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/public/prices',
    permission: 'public',
    scope: 'own',
    summary: 'Show what the models cost everyone, now and as announced, where the operator lets anybody read it',
    params: nowhere,
    answer: z.strictObject({ currency, data: z.array(publicPrice) }),
    async work({ parts: { accounts, management } }) {
      if (!management.arePricesPublic) throw notFound()
      const prices = await readPrices(accounts.db, accounts.currency)
      const nowMs = accounts.clock.nowMs()
      return { currency: accounts.currency, data: modelIds.map((which) => describePublicly(prices, which, nowMs)) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/prices',
    permission: 'prices:update',
    scope: 'installation',
    summary: 'Add a price from a moment on, for everyone or for one organization',
    params: nowhere,
    body: newPrice,
    example,
    answer: price,
    async work({ parts, principal, body: { effectiveAt, organizationId: whose, ...wanted } }) {
      if (whose !== null) await requireOrganization(parts.accounts.db, whose)
      const effectiveAtMs = effectiveAt === null ? null : Date.parse(effectiveAt)
      try {
        return show(await setPrice(parts.accounts, principal, { ...wanted, organizationId: whose, effectiveAtMs }))
      } catch (error) {
        if (error instanceof ForeignCurrency) {
          throw new InvalidFields([{ path: 'currency', message: error.message }])
        }
        if (error instanceof TooEarly) throw new InvalidFields([{ path: 'effectiveAt', message: error.message }])
        throw error
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/prices/preview',
    permission: 'prices:read',
    scope: 'installation',
    summary: 'Work out what the last requests for a model would have cost at a price',
    params: nowhere,
    query: previewQuery,
    answer: preview,
    async work({ parts: { accounts }, principal, query: { organizationId: whose = null, model: which, ...asked } }) {
      if (whose !== null) await requireOrganization(accounts.db, whose)
      const wanted = { organizationId: whose, model: which, rates: asked }
      const { fromMs, organizations } = await previewPrice(accounts, principal, wanted)
      const rows = await accounts.db.selectFrom('organizations').select(['id', 'name']).execute()
      const names = new Map<string, string>(rows.map(({ id: own, name }) => [own, name]))
      const sum = (field: 'chargedPicos' | 'wouldPicos') =>
        toMicrosText(organizations.reduce((total, one) => total + one[field], 0n))
      return {
        from: toTime(fromMs),
        chargedMicros: sum('chargedPicos'),
        wouldMicros: sum('wouldPicos'),
        organizations: organizations.map(({ organizationId: own, requests, chargedPicos, wouldPicos }) => ({
          organizationId: own,
          name: names.get(own) ?? own,
          requests,
          chargedMicros: toMicrosText(chargedPicos),
          wouldMicros: toMicrosText(wouldPicos),
        })),
      }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/prices/{priceId}',
    permission: 'prices:update',
    scope: 'installation',
    summary: 'Void a price that is not yet in force, or one that cannot be used',
    params: z.strictObject({ priceId }),
    answer: 'nothing',
    async work({ parts, principal, params: { priceId: which } }) {
      try {
        await voidPrice(parts.accounts, principal, which)
      } catch (error) {
        if (error instanceof NotVoidable) throw conflict(error.message)
        throw error
      }
    },
  }),
]
