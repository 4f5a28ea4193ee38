import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findPostgresBinaries } from './find-binaries.ts'

/** A throw-away PostgreSQL on a loopback port, its data in a temporary folder. */
export type PostgresServer = {
  /** The address of its first database; any user of this machine may connect. */
  readonly url: string
  /** The server ends as by a power cut, all its processes at once. */
  kill(): Promise<void>
  /** Starts it again, on the same data and port. */
  restart(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

type Place = { readonly binaries: string; readonly folder: string; readonly port: number }

export async function startPostgresServer(): Promise<PostgresServer> {
  const binaries = findPostgresBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-postgres-'))
  const place = { binaries, folder, port: await freePort() }
  try {
    if (isRoot()) chownSync(folder, nobody, nobody)
    initialize(place)
    let server = await launch(place)
    return {
      url: urlOf(place),
      kill: () => end(server),
      restart: async () => {
        server = await launch(place)
      },
      stop: async () => {
        await end(server)
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** PostgreSQL refuses to run as root; this is the user without rights of every Linux. */
const nobody = 65_534

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function settingsOf({ folder }: Place) {
  return { cwd: folder, ...(isRoot() && { uid: nobody, gid: nobody }) }
}

const user = 'odyssey'

function initialize(place: Place): void {
  const { binaries, folder } = place
  const args = ['--pgdata', join(folder, 'cluster'), '--username', user, '--auth', 'trust', '--encoding', 'UTF8']
  execFileSync(join(binaries, 'initdb'), [...args, '--no-locale', '--no-sync'], { ...settingsOf(place), stdio: 'pipe' })
}

async function launch(place: Place): Promise<ChildProcess> {
  const { binaries, folder, port } = place
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=16MB',
    'autovacuum=off',
    // Its end is the end of processes, never of the machine: what was given to the system outlasts it.
    'fsync=off',
  ]
  const args = ['-D', join(folder, 'cluster'), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(binaries, 'postgres'), args, { ...settingsOf(place), stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
  const deadline = performance.now() + 60_000
  while (!(await accepts(urlOf(place)))) {
    if (server.exitCode !== null || performance.now() > deadline) {
      await end(server)
      throw new Error(`PostgreSQL did not start:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return server
}

async function accepts(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** On SIGQUIT all its processes end at once, without a last write; what was committed is found again at the next start. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGQUIT')
  await ended
}

function urlOf({ port }: Place): string {
  return `postgresql://${user}@127.0.0.1:${port}/postgres`
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
