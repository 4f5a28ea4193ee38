import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { findFreePort } from '../../test/harness/http/find-free-port.ts'
import { Client } from 'pg'
import { findPostgresBinaries } from './find-binaries.ts'

/** A throw-away PostgreSQL on a loopback port, its data in a temporary folder. */
export type PostgresServer = {
  /** The address of its first database; any user of this machine may connect. */
  readonly url: string
  /** The server ends as by a power cut, all its processes at once. */
  kill(): Promise<void>
  /** The server answers nobody any more and keeps every connection, as a machine does that has lost its disk. */
  freeze(): Promise<void>
  /** It goes on where it was. */
  thaw(): void
  /** Starts it again, on the same data and port. */
  restart(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

type ServerSetup = {
  readonly binaries: string
  readonly folder: string
  readonly port: number
  readonly settings: readonly string[]
}

/** `settings` are further ones, each as `name=value`; a later one counts. The data is in a new folder under `parent`. */
export async function startPostgresServer(
  settings: readonly string[] = [],
  parent: string = tmpdir(),
): Promise<PostgresServer> {
  const found = findPostgresBinaries()
  const folder = mkdtempSync(join(parent, 'odyssey-postgres-'))
  // Folders in memory may not allow programs to be run from them.
  const copies = mkdtempSync(join(tmpdir(), 'odyssey-postgres-programs-'))
  const remove = () => [folder, copies].forEach((own) => rmSync(own, { recursive: true, force: true }))
  try {
    if (isRoot()) [folder, copies].forEach((own) => chownSync(own, nobody, nobody))
    const binaries = isRoot() && !isOpenToAll(found) ? copyBinaries(found, copies) : found
    const cluster = { binaries, folder, settings }
    initialize(cluster)
    // Making the cluster takes seconds, in which a connection of somebody else may be given a port that was free.
    const place = { ...cluster, port: await findFreePort() }
    let server = await launch(place)
    let frozen: readonly number[] = []
    const thaw = () => {
      for (const pid of frozen) signal(pid, 'SIGCONT')
      frozen = []
    }
    return {
      url: urlOf(place),
      kill: () => end(server),
      async freeze() {
        frozen = await freeze(server, urlOf(place))
      },
      thaw,
      restart: async () => {
        server = await launch(place)
      },
      stop: async () => {
        thaw()
        await end(server)
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** PostgreSQL refuses to run as root; this is the user without rights of every Linux. */
const nobody = 65_534

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** Whether a user without rights can enter every folder on the way, which is not so in root's own home. */
function isOpenToAll(folder: string): boolean {
  const entering = 0o001
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & entering) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** Some 60 MB, which go when the server does. */
function copyBinaries(binaries: string, folder: string): string {
  const copy = join(folder, 'postgres')
  cpSync(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true })
  execFileSync('chown', ['-R', `${nobody}:${nobody}`, copy])
  return join(copy, basename(binaries))
}

function settingsOf({ folder }: Pick<ServerSetup, 'folder'>) {
  return { cwd: folder, ...(isRoot() && { uid: nobody, gid: nobody }) }
}

const user = 'odyssey'

function initialize(place: Omit<ServerSetup, 'port'>): void {
  const { binaries, folder } = place
  const args = ['--pgdata', join(folder, 'cluster'), '--username', user, '--auth', 'trust', '--encoding', 'UTF8']
  execFileSync(join(binaries, 'initdb'), [...args, '--no-locale', '--no-sync'], { ...settingsOf(place), stdio: 'pipe' })
}

async function launch(place: ServerSetup): Promise<ChildProcess> {
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
    ...place.settings,
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

/** Returns what has to be woken again. The first process starts the others: when it sleeps there will be no more of them. */
async function freeze({ pid: first }: ChildProcess, url: string): Promise<number[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { rows: own } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pids = first === undefined ? [] : [first]
  for (const pid of pids) signal(pid, 'SIGSTOP')
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')
  for (const { pid } of [...rows, ...own]) {
    signal(pid, 'SIGSTOP')
    pids.push(pid)
  }
  client.end().catch(() => {})
  return pids
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // A connection that was closed meanwhile has taken its process with it.
  }
}

function urlOf({ port }: ServerSetup): string {
  return `postgresql://${user}@127.0.0.1:${port}/postgres`
}
