import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { allClients } from '../../src/clients/all-clients.ts'
import { describeStart } from '../../src/service/banner.ts'
import { compileCache, productProgram } from '../harness/as-launched.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { runCli } from '../harness/run-cli.ts'
import { until } from '../harness/start-service.ts'

const run = promisify(execFile)
// A path that a shell would take apart.
const folder = mkdtempSync(join(tmpdir(), "odyssey banner's "))
const running: ChildProcess[] = []
after(() => {
  // After a failure they run still, and would keep the process that waits for them.
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

type Started = {
  /** Everything that was printed up to now, log lines included. */
  printed(): string
  stop(): Promise<void>
}

/** Starts the service until it has printed its banner, and leaves what it puts into its data folder alone. */
async function start(home: string, wrap: (command: readonly string[]) => readonly string[] = (it) => it) {
  const [program = '', ...args] = wrap([process.execPath, productProgram, 'serve'])
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const pid = () => (JSON.parse(readFileSync(join(home, 'service.json'), 'utf8')) as { pid: number }).pid
  const started: Started = {
    printed: () => printed,
    async stop() {
      process.kill(pid(), 'SIGTERM')
      await exited
    },
  }
  running.push(child)
  await until(() => /listening at[^]*tycho-1\.0[^]*\n/.test(printed), 'There is no banner.', 120_000)
  return started
}

function newHome(name: string): string {
  const home = join(folder, name)
  spawnSync('mkdir', ['-p', home])
  const models = ['hal-1.0', 'clarke-1.0', 'tycho-1.0'].map((id) => [id, { weights: placeholderPath }])
  writeFileSync(join(home, 'models.json'), JSON.stringify(Object.fromEntries(models)))
  return home
}

async function countKeys(home: string): Promise<number> {
  return (JSON.parse(await runCli({ home }, 'keys', 'list', '--json')) as unknown[]).length
}

/** What a person does who copies the two lines under “Try it”. */
async function tryIt(banner: string): Promise<unknown> {
  const [, lines = ''] = /Try it:\r?\n((?: {2}.*\r?\n){2})/.exec(banner) ?? []
  const { stdout } = await run('sh', ['-c', lines.replaceAll('\r', '').replace('curl ', 'curl --silent --fail ')])
  return (JSON.parse(stdout) as { type: unknown }).type
}

test('a start with starter weights names the file that says which real ones to fetch', () => {
  const starter = { model: 'hal-1.0', state: 'ready', windowTokens: 4_096, isBuiltIn: true } as const
  const banner = describeStart({ address: 'x', models: [starter], firstKey: { kind: 'none' }, hasPages: true })
  const page = /models pull \((.+) says which\)/.exec(banner)?.[1] ?? ''
  match(readFileSync(page, 'utf8'), /^## Which weights$/m)
})

test('a pool that is still being asked has no window yet, and none is named', () => {
  const asked = { model: 'hal-1.0', pool: 'far', state: 'loading', windowTokens: null, isBuiltIn: false } as const
  const known = { ...asked, model: 'clarke-1.0', state: 'ready', windowTokens: 32_768 } as const
  const banner = describeStart({ address: 'x', models: [asked, known], firstKey: { kind: 'none' }, hasPages: false })
  deepEqual(banner.split('\n').slice(2), [
    '  hal-1.0     loading   pool far',
    '  clarke-1.0  ready    window 32,768 tokens  pool far',
  ])
})

suite('the first start where the output is no terminal', () => {
  const home = newHome('no terminal')
  const keyPath = join(home, 'first-api-key')
  let service: Started
  before(async () => {
    service = await start(home)
  })
  after(() => service.stop())

  test('prints no key, neither to its output nor to its log', () => {
    const key = readFileSync(keyPath, 'utf8').trim()
    match(key, /^sk-ody-\w+$/)
    ok(!service.printed().includes('sk-ody-'), service.printed())
    ok(service.printed().includes(keyPath))
  })

  test('leaves the key in a file for the owner alone', () => {
    equal(statSync(keyPath).mode & 0o777, 0o600)
  })

  test('prints commands that try it, and they are answered', async () => {
    equal(await tryIt(service.printed()), 'message')
  })

  test('says where the documentation is, which is there', async () => {
    const address = /listening at (\S+)/.exec(service.printed())?.[1] ?? ''
    const documentation = /^Documentation: (\S+)$/m.exec(service.printed())?.[1]
    equal(documentation, `${address}/docs`)
    // While the pages are built it says that they are.
    match((await fetch(documentation)).headers.get('content-type') ?? '', /^text\/html/)
  })

  test('names a client that connect knows', () => {
    const named = /npx odyssey connect (\S+)/.exec(service.printed())?.[1]
    ok(allClients.some(({ name }) => name === named))
  })

  test('a later start says that the file of the first key is still there, until it is gone', async () => {
    const key = readFileSync(keyPath, 'utf8')
    await service.stop()
    service = await start(home)
    equal(readFileSync(keyPath, 'utf8'), key)
    ok(service.printed().includes(keyPath) && !/sk-ody-|curl/.test(service.printed()))
    await service.stop()
    rmSync(keyPath)
    service = await start(home)
    ok(!/sk-ody-|curl|first-api-key/.test(service.printed()))
    ok(!existsSync(keyPath))
    equal(await countKeys(home), 1)
  })
})

test('a file that is in the way of the first key is left as it is, and no key is made that nobody has', async () => {
  const home = newHome('in-the-way')
  writeFileSync(join(home, 'first-api-key'), 'another installation’s')
  const service = await start(home)
  match(service.printed(), /No first API key was made: .*first-api-key is there already/)
  equal(readFileSync(join(home, 'first-api-key'), 'utf8'), 'another installation’s')
  equal(await countKeys(home), 0)
  await service.stop()
})

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

test(
  'on a terminal the first key is shown, once, and lies in no file',
  { skip: hasTerminal ? false : 'there is no program here that makes a terminal' },
  async () => {
    const home = newHome('terminal')
    const onTerminal = (command: readonly string[]) => ['script', '-qefc', command.join(' '), '/dev/null']
    let service = await start(home, onTerminal)
    await until(() => service.printed().includes('Make further keys'), 'The banner has no end.')
    const keys = new Set(service.printed().match(/sk-ody-\w+/g))
    equal(keys.size, 1)
    ok(!existsSync(join(home, 'first-api-key')))
    equal(await tryIt(service.printed()), 'message')
    await service.stop()
    service = await start(home, onTerminal)
    deepEqual(service.printed().match(/sk-ody-|curl/g), null)
    await service.stop()
  },
)
