import { loadConfig } from '../../config/load.ts'
import { listDatabaseMigrations, migrateDatabase } from '../../db/open-database.ts'
import { parseArguments } from '../parse-arguments.ts'
import { makeHome } from '../../service/joins/make-home.ts'

const options = { status: { type: 'boolean', default: false } } as const

/** `odyssey migrate`: what a start of the service does by itself, for those who want it done before. */
export async function migrateCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options })
  const config = loadConfig()
  if (values.status) {
    for (const { name, appliedAt } of await listDatabaseMigrations(config)) {
      console.log(`${name.padEnd(24)} ${appliedAt === null ? 'not applied' : `applied ${appliedAt.toISOString()}`}`)
    }
    return
  }
  makeHome(config)
  const applied = await migrateDatabase(config)
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
}
