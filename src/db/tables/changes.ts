/** What gateways keep in memory and have to read again when it was changed elsewhere; `limits` are budgets too. */
export const topics = ['access', 'limits', 'prices'] as const

export type Topic = (typeof topics)[number]

/** A row for each topic, whose counter every change raises. */
export type ChangeTable = { readonly topic: Topic; counter: number }
