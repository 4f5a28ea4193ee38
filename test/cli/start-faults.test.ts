// A service that cannot start says why in one line, and what to change.

import { equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { startCli } from '../harness/run-cli.ts'

let folder: string
let taken: Server

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'odyssey-start-faults-'))
  writeFileSync(join(folder, 'file'), '')
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
})
after(() => {
  taken.close()
  rmSync(folder, { recursive: true })
})

suite('a service that cannot start says why, and what to change', { timeout: 300_000 }, () => {
  const faults: readonly [what: string, said: RegExp, environment: () => Record<string, string>][] = [
    [
      'its data folder is a file',
      /^The data folder \S+ cannot be used: .+ Set ODYSSEY_HOME to another one\.\n$/,
      () => ({
        home: join(folder, 'file'),
      }),
    ],
    [
      'its data folder would lie in a file',
      /^The data folder \S+ cannot be used: .+\n$/,
      () => ({
        home: join(folder, 'file', 'data'),
      }),
    ],
    [
      'the port is none',
      /^The configuration cannot be used\.\nPORT=abc: must be a whole number from 0 to 65535\.\n$/,
      () => ({
        PORT: 'abc',
      }),
    ],
    [
      'the config file is a folder',
      /^The configuration cannot be used\.\n\S+ is a folder, and must be a file\.\n$/,
      () => ({
        ODYSSEY_CONFIG: folder,
      }),
    ],
    [
      'the folder for prompts is none that can be written',
      /^The folder \S+file that engine\.cacheFolder names cannot be used: .+ Name another one in \S+\.\n$/,
      () => {
        const path = join(folder, 'cache.json')
        writeFileSync(path, JSON.stringify({ engine: { cacheFolder: 'file' } }))
        return { ODYSSEY_CONFIG: path }
      },
    ],
    [
      'the port is taken',
      /^Port \d+ on 127\.0\.0\.1 is taken\. Set PORT to another one\.\n$/,
      () => ({
        PORT: String(takenPort()),
      }),
    ],
    [
      'the port of the metrics is taken',
      /^The port of the metrics, \d+ on 127\.0\.0\.1, cannot be opened\.\n$/,
      () => {
        const path = join(folder, 'metrics.json')
        writeFileSync(path, JSON.stringify({ metrics: { port: takenPort() } }))
        return { ODYSSEY_CONFIG: path }
      },
    ],
    // An address that is set aside for documents, which no machine has.
    [
      'the host is another machine',
      /^192\.0\.2\.1 is no address of this machine\. Set HOST to another one\.\n$/,
      () => ({
        HOST: '192.0.2.1',
      }),
    ],
    [
      'the database is not there',
      /^PostgreSQL, as DATABASE_URL names it, cannot be used: .+\n$/,
      () => ({
        DATABASE_URL: 'postgresql://odyssey:secret@127.0.0.1:1/odyssey',
      }),
    ],
  ]
  for (const [what, said, environment] of faults) {
    test(what, async (t) => {
      const { home = join(folder, 'data'), ...others } = environment()
      const { child, ended } = startCli({ home, environment: { PORT: '0', ...others } }, 'serve')
      t.after(() => child.kill('SIGKILL'))
      const { exitCode, stderr } = await ended
      match(withoutLog(stderr), said)
      equal(exitCode, 1)
    })
  }
})

test('a service that is told to end while it starts ends by itself: the first process of a container has to', async (t) => {
  const isAsked = new Promise((resolve) => taken.once('connection', resolve))
  const environment = { PORT: '0', DATABASE_URL: `postgresql://odyssey:secret@127.0.0.1:${takenPort()}/odyssey` }
  const { child, ended } = startCli({ home: join(folder, 'ended'), environment }, 'serve')
  t.after(() => child.kill('SIGKILL'))
  await isAsked
  child.kill('SIGTERM')
  equal((await ended).exitCode, 128 + constants.signals.SIGTERM)
})

test('a signal that comes while the service is still being loaded is heard: the first process of a container dies of none by itself', async (t) => {
  const hook = join(folder, 'signal-at-load.mjs')
  writeFileSync(hook, signalAtLoad)
  const environment = { PORT: '0', NODE_OPTIONS: `--import=${hook}` }
  const { child, ended } = startCli({ home: join(folder, 'early'), environment }, 'serve')
  t.after(() => child.kill('SIGKILL'))
  equal((await ended).exitCode, 128 + constants.signals.SIGTERM)
})

/** Sends the process a signal when it begins to load the service itself, which in a package has a hash in its file's name. */
const signalAtLoad = `import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    if (/\\/serve(-[\\w-]+)?\\.[jt]s$/.test(url)) process.kill(process.pid, 'SIGTERM')
    return next(url, context)
  },
})
`

function takenPort(): number {
  return (taken.address() as { port: number }).port
}

function withoutLog(stderr: string): string {
  return stderr.replaceAll(/^\{.*\n/gm, '')
}
