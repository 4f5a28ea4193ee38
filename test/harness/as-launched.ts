// What the launcher starts every program of the product with.

import { createRequire } from 'node:module'

/** By what is set before a process begins, and by its arguments. */
export const { memorySettings, nodeArguments } = createRequire(import.meta.url)('../../bin/environment.cjs') as {
  readonly memorySettings: Readonly<Record<string, string>>
  nodeArguments(): readonly string[]
}

/** For processes that get an environment of their own: what was compiled once need not be compiled by each. */
export const compileCache: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
