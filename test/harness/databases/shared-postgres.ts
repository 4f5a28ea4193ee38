// One throw-away PostgreSQL for all test files of a run, started by the first that asks.
// scripts/test.ts names the folder in which they find each other; a file that is run alone has a server of its own.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { migratePostgres } from '../../../src/db/open-postgres.ts'
import { until } from '../start-service.ts'

const keeper = fileURLToPath(new URL('../../../scripts/test-postgres.ts', import.meta.url))
const folder = process.env['ODYSSEY_TEST_POSTGRES'] ?? join(tmpdir(), `odyssey-test-postgres-${randomUUID()}`)
const owner = process.env['ODYSSEY_TEST_POSTGRES_OWNER'] ?? String(process.pid)

const template = 'odyssey_template'
/** Resolves once the template is there; asked for once by each process. */
let madeTemplate: Promise<void> | null = null

export type PostgresDatabase = { readonly url: string; drop(): Promise<void> }

/** A database of its own, with the newest schema in it or with nothing at all. */
export async function createPostgresDatabase(content: 'schema' | 'nothing' = 'schema'): Promise<PostgresDatabase> {
  const server = await serverUrl()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  if (content === 'schema') await (madeTemplate ??= ensureTemplate(server))
  await onServer(server, (client) =>
    client.query(
      `create database ${name} template ${content === 'schema' ? template : 'template0'} strategy file_copy`,
    ),
  )
  return {
    url: urlOf(server, name),
    drop: () => onServer(server, (client) => client.query(`drop database if exists ${name} with (force)`)),
  }
}

async function serverUrl(): Promise<string> {
  const addressPath = join(folder, 'address')
  if (!existsSync(addressPath) && isFirst()) {
    const args = [keeper, '--owner', owner, '--address', addressPath]
    spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref()
  }
  await until(() => existsSync(addressPath), 'PostgreSQL did not start.', 120_000)
  const address = readFileSync(addressPath, 'utf8')
  if (!address.startsWith('postgresql:')) throw new Error(`PostgreSQL did not start: ${address}`)
  return address
}

function isFirst(): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Copying a database takes a fraction of what the migrations take. */
function ensureTemplate(server: string): Promise<void> {
  return onServer(server, async (client) => {
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template])
    if (rowCount !== 0) return
    await client.query(`create database ${template}_unfinished`)
    await migratePostgres(urlOf(server, `${template}_unfinished`))
    await client.query(`alter database ${template}_unfinished rename to ${template}`)
  })
}

async function onServer(server: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function urlOf(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
