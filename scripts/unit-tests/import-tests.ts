import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')

/** The rooms whose tests mostly wait for SQLite or PostgreSQL. */
export const roomsWithDatabase: ReadonlySet<string> = new Set(['accounts', 'billing', 'db', 'limits', 'service'])

/**
 * Runs the unit tests of the chosen rooms in this process.
 *
 * The files are many and small, and starting a process for each would take far longer than the tests themselves.
 */
export async function importTests(isChosen: (room: string) => boolean): Promise<void> {
  for (const file of globSync('src/**/*.test.ts', { cwd: root }).toSorted()) {
    const [, room = ''] = file.split(/[/\\]/)
    if (isChosen(room)) await import(pathToFileURL(join(root, file)).href)
  }
}
