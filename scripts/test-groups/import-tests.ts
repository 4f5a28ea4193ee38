import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { filesOf, type GroupName } from './groups.ts'

const root = join(import.meta.dirname, '../..')

/** The rooms whose tests mostly wait for SQLite or PostgreSQL. */
export const roomsWithDatabase: ReadonlySet<string> = new Set(['accounts', 'billing', 'db', 'limits', 'service'])

/**
 * Runs the unit tests of the chosen rooms in this process.
 *
 * The files are many and small, and starting a process for each would take far longer than the tests themselves.
 */
export async function importTests(isChosen: (room: string) => boolean): Promise<void> {
  const files = globSync('src/**/*.test.ts', { cwd: root }).toSorted()
  await importEach(files.filter((file) => isChosen(file.split(/[/\\]/)[1] ?? '')).map((file) => join(root, file)))
}

/** Runs the tests of a group in this process. */
export async function importGroup(name: GroupName): Promise<void> {
  await importEach(filesOf(name).map((file) => join(root, file)))
}

/**
 * Runs test files one after the other, each as a suite.
 *
 * Without the suite a hook at the top of a file would run for every test of all files. That took 219 seconds of a
 * processor and 6.6 GB for the rooms without a database, where 17 seconds and 0.8 GB do.
 */
export async function importEach(files: readonly string[]): Promise<void> {
  for (const file of files) {
    await suite(file.slice(root.length + 1), async () => {
      await import(pathToFileURL(file).href)
    })
  }
}
