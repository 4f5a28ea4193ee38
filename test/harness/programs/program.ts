import { Missing } from './cache.ts'

/** A program that somebody else has written and a test runs. */
export type Program = {
  /** What people call it. */
  readonly called: string
  /** The path of one that is installed or was fetched before; null where there is none. */
  find(): string | null
  /** Brings it into the cache. Throws `Missing` where this machine cannot have it. */
  fetch(): Promise<string>
}

/**
 * The path of a program, and why tests with it are left out: false where it is there.
 *
 * Throws `Missing` instead where tests decide what is released: `npm test` has fetched it there before.
 */
export function findProgram(program: Program): { readonly path: string; readonly skip: string | false } {
  const path = program.find()
  if (path !== null) return { path, skip: false }
  const message = `There is no ${program.called} here: npm run programs brings it.`
  if (process.env['CI'] !== undefined) throw new Missing(message)
  return { path: '', skip: message }
}
