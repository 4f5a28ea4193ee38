// An engine's child that was taken over reaches its weights and its folders, and nothing else.

import { runAlone } from '../../src/core/engine.ts'
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import type { ConfinementReport } from '../../src/engines/llama/confinement/plan.ts'
import { launchChild, type LaunchedChild, type LaunchOptions } from '../../src/engines/llama/launch-child.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Attempt } from '../harness/engines/confined-child.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest } from '../harness/requests.ts'
import { runInLesserSystem } from '../harness/lesser-system.ts'

const entry = new URL('../harness/engines/confined-child.ts', import.meta.url)
const isLinux = process.platform === 'linux'
const never = new AbortController().signal

let home: string
let cacheFolder: string
before(() => {
  home = mkdtempSync(join(tmpdir(), 'odyssey-confinement-'))
  cacheFolder = join(home, 'cache')
  mkdirSync(join(home, 'weights'))
  for (const name of ['secret.key', 'odyssey.db', 'models.json', 'weights/other.gguf'])
    writeFileSync(join(home, name), 'x')
})
after(() => rmSync(home, { recursive: true, force: true }))

type Confined = LaunchedChild & { ask(attempt: Attempt): Promise<string>; report(): ConfinementReport | null }

async function launch(changes: Partial<LaunchOptions> = {}): Promise<Confined> {
  let report: ConfinementReport | null = null
  const launched = launchChild(entry, {
    weightsPaths: [placeholderPath],
    cacheFolder,
    usesDevices: false,
    environment: { PATH: process.env['PATH'] ?? '' },
    confinement: 'require',
    memoryBytesMax: 1024 ** 3,
    clock: systemClock,
    onConfined: (said) => (report = said),
    ...changes,
  })
  const { process: child } = launched
  const nextMessage = () => new Promise<string>((resolve) => child.once('message', (said) => resolve(said as string)))
  equal(await Promise.race([nextMessage(), launched.ended]), 'begun')
  const ask = (attempt: Attempt) => {
    const answer = nextMessage()
    child.send(attempt)
    return Promise.race([answer, launched.ended])
  }
  launchedChildren.add(launched)
  return { ...launched, ask, report: () => report }
}

/** A child that a failed test has forgotten would keep the tests from ending. */
const launchedChildren = new Set<LaunchedChild>()
after(() => Promise.all([...launchedChildren].map(stop)))

async function stop({ process: child, ended }: LaunchedChild): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

suite('a confined child', { skip: !isLinux }, () => {
  let confined: Confined
  let server: Server
  before(async () => {
    server = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    confined = await launch()
  })
  after(async () => {
    server.close()
    await stop(confined)
  })

  test('has all of it in force, and says so', () => {
    deepEqual(confined.report()?.missing, [])
    ok(confined.report()?.inForce.includes('network'))
  })

  test('reads its weights, and reads and writes its own folder', async () => {
    equal(await confined.ask({ kind: 'read', path: placeholderPath }), 'done')
    equal(await confined.ask({ kind: 'write', path: join(cacheFolder, 'kept') }), 'done')
    equal(await confined.ask({ kind: 'read', path: join(cacheFolder, 'kept') }), 'done')
  })

  test('reads nothing of the data folder, and nothing of anyone else', async () => {
    const inService = ['environ', 'mem', 'maps', 'fd/0'].map((name) => join('/proc', String(process.pid), name))
    const paths = ['secret.key', 'odyssey.db', 'models.json', 'weights/other.gguf'].map((name) => join(home, name))
    const around = [import.meta.filename, '/etc/shadow', '/etc/hostname', ...inService]
    const ways = [join('/proc/self/root', home, 'secret.key'), join(cacheFolder, '..', 'secret.key')]
    for (const path of [...paths, ...around, ...ways]) {
      ok(['EACCES', 'EPERM', 'ENOENT'].includes(await confined.ask({ kind: 'read', path })), path)
    }
    for (const path of [home, dirname(home), tmpdir(), join('/proc', String(process.pid), 'cwd')]) {
      equal(await confined.ask({ kind: 'list', path }), 'EACCES', path)
    }
  })

  test('cannot bring into its folder what lies outside', async () => {
    const secret = join(home, 'secret.key')
    equal(await confined.ask({ kind: 'symlink', path: secret, to: join(cacheFolder, 'symlink') }), 'EACCES')
    for (const kind of ['link', 'rename'] as const) {
      ok(['EACCES', 'EXDEV'].includes(await confined.ask({ kind, path: secret, to: join(cacheFolder, kind) })), kind)
    }
    equal(readFileSync(secret, 'utf8'), 'x')
  })

  test('writes nowhere else, its own weights and code included', async () => {
    const source = new URL('../../src/engines/llama/child/main.ts', import.meta.url).pathname
    for (const path of [
      placeholderPath,
      source,
      join(home, 'new'),
      join(tmpdir(), 'new'),
      '/dev/shm/new',
      '/proc/self/oom_score_adj',
    ]) {
      equal(await confined.ask({ kind: 'write', path }), 'EACCES', path)
    }
  })

  test('reaches no network and no socket of another program', async () => {
    const { port } = server.address() as AddressInfo
    ok(['EPERM', 'EACCES'].includes(await confined.ask({ kind: 'connect', port })))
    ok(['EPERM', 'EACCES'].includes(await confined.ask({ kind: 'connect-path', path: '/var/run/docker.sock' })))
  })

  test('starts no program, not even its own', async () => {
    const programs: [string, string[]][] = [
      ['/bin/sh', ['-c', 'true']],
      [process.execPath, ['-e', '0']],
      ['/lib64/ld-linux-x86-64.so.2', ['/bin/true']],
    ]
    for (const [path, args] of programs) {
      ok(['EPERM', 'EACCES', 'ENOENT'].includes(await confined.ask({ kind: 'spawn', path, args })), path)
    }
  })

  test('signals nobody', async () => {
    equal(await confined.ask({ kind: 'signal', pid: process.pid }), 'EPERM')
    equal(await confined.ask({ kind: 'signal', pid: confined.process.pid ?? 0 }), 'done')
  })
})

test(
  "a card's driver may name its socket and threads, and reaches nothing more by that",
  { skip: !isLinux },
  async () => {
    const [ofThisMachine, overNetwork, stream, datagram, sequenced, closesOnExec] = [1, 2, 1, 2, 5, 0o2000000]
    const socket = (family: number, type: number): Attempt => ({ kind: 'socket', family, type })
    const named: Attempt = { kind: 'write', path: '/proc/self/comm' }
    const driver = await launch({ usesDevices: true, drivesNvidia: true })
    for (const allowed of [socket(ofThisMachine, sequenced), socket(ofThisMachine, sequenced | closesOnExec), named])
      equal(await driver.ask(allowed), 'done', JSON.stringify(allowed))
    const path = join(home, 'socket')
    const listening = createServer().listen(path)
    const refused: Attempt[] = [
      ...[stream, datagram].map((type) => socket(ofThisMachine, type)),
      ...[stream, datagram, sequenced].map((type) => socket(overNetwork, type)),
      { kind: 'connect-path', path },
      { kind: 'write', path: `/proc/${process.pid}/comm` },
      { kind: 'write', path: '/proc/sys/kernel/core_pattern' },
    ]
    for (const attempt of refused) notEqual(await driver.ask(attempt), 'done', JSON.stringify(attempt))
    listening.close()
    const other = await launch({ usesDevices: true, drivesNvidia: false })
    for (const attempt of [socket(ofThisMachine, sequenced), named])
      notEqual(await other.ask(attempt), 'done', JSON.stringify(attempt))
    await Promise.all([stop(driver), stop(other)])
  },
)

test('a child that grows beyond its memory is ended, and the reason says so', { skip: !isLinux }, async () => {
  const confined = await launch({ memoryBytesMax: 400 * 1024 ** 2 })
  match(await confined.ask({ kind: 'grow' }), /it took \d+ bytes of memory, and may have 419430400/)
})

test("a child's scratch folder is its own and goes with it, however it ends", { skip: !isLinux }, async () => {
  const isMine = (name: string) => name.startsWith(`odyssey-scratch-${process.pid}-`)
  const confined = await launch()
  const others = await launch()
  const folders = readdirSync('/dev/shm').filter(isMine)
  equal(folders.length, 2)
  const listed: string[] = []
  for (const name of folders) listed.push(await confined.ask({ kind: 'list', path: join('/dev/shm', name) }))
  deepEqual(listed.toSorted(), ['EACCES', 'done'])
  await Promise.all([stop(confined), stop(others)])
  deepEqual(readdirSync('/dev/shm').filter(isMine), [])
})

test('an engine that must be confined loads and answers', { skip: !isLinux }, async () => {
  const engine = openLlama({}, { confinement: 'require' })
  const { reason } = await collect(runAlone(engine, engineRequest(), never))
  equal(reason.kind, 'end')
  await engine.close()
})

suite('where the system has no Landlock and no filters', { skip: !isLinux }, () => {
  test('an engine is confined by Node, answers, and says what is missing', async () => {
    const { outcome, report, said } = await runInLesserSystem('auto')
    equal(outcome, 'end', said)
    match(report?.inForce.join() ?? '', /as far as Node sees to it/)
    match(report?.missing.join() ?? '', /file system .*network/)
  })

  test('an engine that must be confined does not start, and says what is missing', async () => {
    const { outcome, said } = await runInLesserSystem('require')
    match(outcome, /overloaded/)
    match(said, /engine\.confinement requires.*file system/)
  })

  test("the program of an engine that is not fully confined cannot read the service's secret", async () => {
    const { secret } = await runInLesserSystem('auto')
    equal(secret, 'ERR_ACCESS_DENIED')
  })
})

test('an engine whose confinement is off says that nothing is in force', async () => {
  let report: ConfinementReport | null = null
  const engine = openLlama({}, { confinement: 'off', onConfined: (said) => (report = said) })
  const { reason } = await collect(runAlone(engine, engineRequest(), never))
  equal(reason.kind, 'end')
  await engine.close()
  deepEqual((report as ConfinementReport | null)?.inForce, [])
  ok(existsSync(placeholderPath))
})
