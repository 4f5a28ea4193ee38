import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { openDatabase } from '../../db/open-database.ts'
import { backUp } from '../../db/portable/back-up.ts'
import { restore } from '../../db/portable/restore.ts'
import { findSecretFault } from '../../service/joins/open-secrets.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

const restoreOptions = { replace: { type: 'boolean', default: false } } as const

/** `odyssey backup FILE`: also while the service runs. */
export async function backupCommand(args: string[]): Promise<void> {
  const { positionals } = parseArguments({ args, allowPositionals: true })
  const path = requirePath(positionals, 'backup')
  console.log(`${path} holds ${describe(await backUp(loadConfig(), path))}.`)
}

/** `odyssey restore FILE`: into the database that the environment names, while the service is stopped. */
export async function restoreCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: restoreOptions, allowPositionals: true })
  const path = requirePath(positionals, 'restore')
  const config = loadConfig()
  const counts = await restore(config, { path, replaces: values.replace })
  console.log(`Restored ${describe(counts)}.`)
  await tellSecretFault(config)
}

/** `odyssey import FILE`: moves from the data folder's SQLite to PostgreSQL. */
export async function importCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: restoreOptions, allowPositionals: true })
  const path = requirePath(positionals, 'import')
  const config = loadConfig()
  if (config.databaseUrl === null) throw new UsageError('import needs DATABASE_URL, the PostgreSQL database to fill.')
  const counts = await restore(config, { path, replaces: values.replace })
  console.log(`Imported ${describe(counts)}.`)
  await tellSecretFault(config)
}

/** Better now than when the service is started: it would refuse. */
async function tellSecretFault(config: Config): Promise<void> {
  const db = await openDatabase(config)
  try {
    const fault = await findSecretFault(config.home, db)
    if (fault !== null) console.log(fault)
  } finally {
    await db.destroy()
  }
}

function requirePath(positionals: readonly string[], command: string): string {
  const [path] = positionals
  if (path === undefined || positionals.length > 1) throw new UsageError(`${command} takes one FILE.`)
  return resolve(path)
}

function describe(counts: ReadonlyMap<string, number>): string {
  const filled = [...counts].filter(([, count]) => count > 0)
  return filled.map(([table, count]) => `${count} ${table}`).join(', ')
}
