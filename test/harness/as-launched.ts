// What the launcher starts every program of the product with.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** By what is set before a process begins, and by its arguments. */
export const { memorySettings, nodeArguments } = createRequire(import.meta.url)('../../bin/environment.cjs') as {
  readonly memorySettings: Readonly<Record<string, string>>
  nodeArguments(): readonly string[]
}

/** For processes that get an environment of their own: what was compiled once need not be compiled by each. */
export const compileCache: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

/** The program that tests start: that of the sources, unless they are to run on another build of them. */
export const productProgram =
  process.env['ODYSSEY_TEST_PROGRAM'] ?? fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
