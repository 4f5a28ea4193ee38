/** The kinds of tokens that have a rate of their own. */
export const kinds = [
  ['input', 'Input'],
  ['cacheRead', 'Cache read'],
  ['cacheWriteShort', 'Cache write, 5 min'],
  ['cacheWriteLong', 'Cache write, 1 h'],
  ['output', 'Output'],
] as const

export type RateName = (typeof kinds)[number][0]
