import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import { loadSecrets, secretPathIn } from '../../config/load-secret.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import { sqlitePath } from '../../db/database-location.ts'
import { listDatabaseMigrations } from '../../db/open-database.ts'
import { openSqliteToRead } from '../../db/connect-sqlite.ts'
import { ownerPath, requireFolderOwner } from '../../db/folder-owner.ts'
import { DatabaseFault, requireUsableDatabase } from '../../db/open-sqlite.ts'
import { isDamage } from '../../db/sqlite-errors.ts'
import { messageOf } from '../../lib/message-of.ts'
import { findAccessFault } from '../../lib/system/access-fault.ts'
import { findSecretFault } from '../joins/open-secrets.ts'
import { describeSystem } from '../status/describe-system.ts'
import { fault, fine, warning, type Finding } from './finding.ts'

/** Limits and keys follow the clocks of several gateways; further apart they are told wrong times. */
const clockDifferenceMsMax = 2_000

/** Examines the database without changing anything in it: its schema, its secret, its clock, its sums and its backups. */
export async function examineDatabase(config: Config): Promise<readonly Finding[]> {
  const locked = findAccessFault([ownerPath(config)], 'read')
  if (locked !== null) return [fault('database', locked.says, locked.todo)]
  try {
    requireFolderOwner(config)
  } catch (error) {
    return [fault('database', messageOf(error), 'The service does not start until one of the two is done.')]
  }
  const damage = examineSecretFile(config)
  const secret = damage === null ? [] : [damage]
  if (config.databaseUrl === null && isNotMadeYet(sqlitePath(config)))
    return [fine('database', 'There is none yet; the first "odyssey serve" makes it.'), ...secret]
  return [...(await examineOpened(config, damage === null)), ...secret]
}

/** What this user may not look for is not taken for missing. */
function isNotMadeYet(path: string): boolean {
  return findAccessFault([path], 'read') === null && !existsSync(path)
}

/** `isSecretWhole` says whether it can be compared with the database. */
async function examineOpened(config: Config, isSecretWhole: boolean): Promise<readonly Finding[]> {
  try {
    requireUsableDatabase(config)
    const schema = await examineSchema(config)
    const db = await open(config)
    try {
      if (schema.level !== 'fine') return [schema]
      const secret = isSecretWhole ? [await examineSecret(config, db)] : []
      return [schema, ...secret, ...(await examineContent(config, db))]
    } finally {
      await db.destroy()
    }
  } catch (error) {
    if (error instanceof DatabaseFault) return [fault('database', error.says, error.todo)]
    return [fault('database', messageOf(error), adviseOn(error, config))]
  }
}

/** What is in a backup takes the place of all that came since: one is advised where the file is damaged, and nowhere else. */
function adviseOn(error: unknown, { databaseUrl }: Config): string {
  if (databaseUrl !== null) return 'Check DATABASE_URL, and that PostgreSQL runs and lets this machine in.'
  if (isDamage(error)) return 'Restore a backup with "odyssey restore FILE --replace".'
  return 'The service does not start until this is mended. The database is not known to be damaged.'
}

async function examineSchema(config: Config): Promise<Finding> {
  const migrations = await listDatabaseMigrations(config)
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null).length
  const kind = config.databaseUrl === null ? 'SQLite' : 'PostgreSQL'
  if (waiting === 0) return fine('database', `${kind} answers, and its schema is up to date.`)
  const says = `${kind} answers; ${waiting} migrations wait.`
  return warning('database', says, 'Back up, then run "odyssey migrate", or start the service, which does the same.')
}

async function open({ databaseUrl, home }: Config): Promise<Database> {
  if (databaseUrl === null) return openSqliteToRead(sqlitePath({ home }))
  return (await import('../../db/open-postgres.ts')).connectPostgres(databaseUrl)
}

const secretHelp = 'Put it back from where you keep the secret; a backup of the database does not hold it.'

/** What is wrong with the secret by itself; null where nothing is, and where there is none yet. */
function examineSecretFile({ home }: Config): Finding | null {
  const path = secretPathIn(home)
  const locked = findAccessFault([path], 'read')
  if (locked !== null) return fault('secret', locked.says, locked.todo)
  if (!existsSync(path)) return null
  try {
    loadSecrets(home)
    return null
  } catch (error) {
    return fault('secret', messageOf(error), secretHelp)
  }
}

async function examineSecret({ home }: Config, db: Database): Promise<Finding> {
  const reason = await findSecretFault(home, db)
  if (reason === null) return fine('secret', 'The secret of the data folder goes with the database.')
  return fault('secret', reason, secretHelp)
}

async function examineContent(config: Config, db: Database): Promise<Finding[]> {
  const { warnings } = await describeSystem({ config, db, startedAtMs: 0 }, Date.now())
  return [
    ...(config.databaseUrl === null ? [] : [await examineClock(db)]),
    warnings.includes('sums')
      ? fault('ledger', 'The sums of usage differ from the ledger.', 'Run "odyssey bill verify", which names the rows.')
      : fine('ledger', 'The sums of usage were equal to the ledger when they were last compared.'),
    warnings.includes('backup')
      ? warning('backup', 'There is no backup of the last seven days.', 'Run "odyssey backup FILE" each day.')
      : fine('backup', 'There is a backup of the last seven days.'),
  ]
}

async function examineClock(db: Database): Promise<Finding> {
  const before = Date.now()
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db)
  const difference = Math.round((rows[0]?.ms ?? before) - (before + Date.now()) / 2)
  const says = `The clocks of this machine and of PostgreSQL are ${Math.abs(difference)} ms apart.`
  if (Math.abs(difference) <= clockDifferenceMsMax) return fine('clock', says)
  return fault('clock', says, 'Have both follow a time server (NTP).')
}
