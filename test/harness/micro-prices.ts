import type { PriceBook } from '../../src/billing/prices/price-book.ts'

const rates = { input: 1_000_000, cacheRead: 0, cacheWriteShort: 0, cacheWriteLong: 0, output: 1_000_000 }
const price = { organizationId: null, effectiveAtMs: 0, createdAtMs: 0, currency: 'USD', rates, fault: null }

/** Every computed token of every model costs a millionth. */
export const microPrices: PriceBook = { find: (_, model) => ({ ...price, id: 'price_1', model }) }
