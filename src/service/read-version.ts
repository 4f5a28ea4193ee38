import { readFileSync } from 'node:fs'
import { z } from 'zod'

const schema = z.object({ version: z.string() })

/** The version of Odyssey itself, which its package says. */
export function readVersion(): string {
  return schema.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version
}
