/** Money in whole micro-units, rounded up, and tokens, prompt and answer together. */
export type Amounts = { readonly micros: number; readonly tokens: number }
export type Measure = keyof Amounts

/** What a request has come to in the end. */
export type Spending = { readonly costPicos: bigint; readonly tokens: number }
