// The launcher at work in a folder of its own, beside a stand-in for npm that keeps
// a diary. The launcher itself is the real one, started as a user would start it.

import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const repository = join(import.meta.dirname, '..')
const load = createRequire(import.meta.url)
const { findNode, pinnedNode } = load('./find-node.cjs')
const { lock } = load('./lock.cjs')
const { cardsFor } = load('./platform.cjs')
const onPosix = { skip: process.platform === 'win32' && 'Windows has no signals between processes.' }

/** What a fake npm does after it has written its arguments to the diary. */
const npmInstalls = `
  const fs = require('fs')
  fs.mkdirSync('node_modules', { recursive: true })
  fs.writeFileSync('node_modules/thing', '')`

const printArguments = 'console.log(JSON.stringify(process.argv.slice(2)))'

suite('installing', () => {
  test('runs npm once for a lockfile and again when it has changed', (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const first = launch(root, ['a', '--b c'])
    assert.equal(first.stdout, '["a","--b c"]\n')
    assert.equal(first.stderr, 'Installing dependencies (once per lockfile change) …\n')
    assert.equal(launch(root, []).stderr, '')
    assert.equal(diary(root).length, 1)

    writeFileSync(join(root, 'package-lock.json'), lockfile({ 'node_modules/thing': { version: '2.0.0' } }))
    assert.match(launch(root, []).stderr, /^Installing/)
    assert.equal(diary(root).length, 2)
  })

  test('installs everything for a script of the repository, whatever the outer npm was told to leave out', (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const outer = {
      npm_config_omit: 'dev',
      npm_config_global: 'true',
      NODE_ENV: 'production',
      npm_config_registry: 'r',
    }
    assert.equal(launch(root, ['--run', 'src/cli/main.ts'], outer).status, 0)
    const [entry] = diary(root)
    assert.ok(entry !== undefined)
    assert.ok(entry.args.includes('--include=dev') && entry.args.includes('--ignore-scripts'), String(entry.args))
    assert.deepEqual(
      entry.settings.filter((name) => name in outer),
      ['npm_config_registry'],
    )
  })

  test('installs for serving what serving needs and the builds of this machine, and the rest when it is asked for', (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const [arch, system] = [process.arch, { linux: 'linux', darwin: 'mac', win32: 'win' }[process.platform as 'linux']]
    const build = `@node-llama-cpp/${system}-${arch}`
    const builds = {
      [build]: '3.0.0',
      [`${build}-cuda`]: '3.0.0',
      [`${build}-vulkan`]: '3.0.0',
      '@node-llama-cpp/mars-x64': '3.0.0',
    }
    writeFileSync(
      join(root, 'package-lock.json'),
      lockfile({ 'node_modules/node-llama-cpp': { optionalDependencies: builds } }),
    )
    const install = (environment: Record<string, string>, args: readonly string[] = []) => {
      const before = diary(root).length
      assert.equal(launch(root, args, environment).status, 0)
      return diary(root)
        .slice(before)
        .map((entry) => entry.args)
    }
    const needs = () => {
      const manifest = readFileSync(join(root, 'node_modules/.odyssey/platform/package.json'), 'utf8')
      return Object.keys((JSON.parse(manifest) as { dependencies: object }).dependencies).toSorted()
    }
    const [first = []] = install({ ODYSSEY_GPU: 'off' })
    assert.ok(first.includes('--omit=dev') && first.includes('--omit=optional'), first.join(' '))
    assert.ok(first.at(-1)?.endsWith(join('.odyssey', 'platform')), first.join(' '))
    assert.deepEqual(needs(), [build])
    assert.deepEqual(install({ ODYSSEY_GPU: 'off' }), [])
    assert.equal(install({ ODYSSEY_GPU: 'cuda' }).length, 1)
    assert.deepEqual(needs(), [build, `${build}-cuda`])
    const [everything = []] = install({ ODYSSEY_GPU: 'off' }, ['--run', 'src/cli/main.ts'])
    assert.ok(everything.includes('--include=dev'), everything.join(' '))
    assert.deepEqual(install({ ODYSSEY_GPU: 'off' }), [], 'Where everything is, serving needs nothing more.')
  })

  test('looks for the files of a driver, and for what ODYSSEY_GPU says', () => {
    const only = (path: string) => (file: string) => file === path
    assert.deepEqual(
      cardsFor('auto', 'linux', () => false),
      [],
    )
    assert.deepEqual(cardsFor('auto', 'linux', only('/dev/nvidiactl')), ['cuda'])
    assert.deepEqual(cardsFor('auto', 'linux', only('/dev/dri/renderD128')), ['vulkan'])
    assert.deepEqual(
      cardsFor('off', 'linux', () => true),
      [],
    )
    assert.deepEqual(
      cardsFor('cuda, vulkan', 'linux', () => false),
      ['cuda', 'vulkan'],
    )
    assert.deepEqual(
      cardsFor('auto', 'darwin', () => true),
      [],
    )
  })

  test('accepts what someone installed by hand, without development packages where none are needed', (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const thing = { version: '1.0.0', integrity: 'sha512-x' }
    const wanted = {
      'node_modules/thing': thing,
      'node_modules/tool': { version: '1.0.0', dev: true },
      'node_modules/elsewhere': { version: '1.0.0', optional: true },
    }
    writeFileSync(join(root, 'package-lock.json'), lockfile(wanted))
    mkdirSync(join(root, 'node_modules'))
    writeFileSync(join(root, 'node_modules/.package-lock.json'), lockfile({ 'node_modules/thing': thing }))
    assert.equal(launch(root, []).stderr, '')
    assert.equal(diary(root).length, 0)
    assert.match(launch(root, ['--run', 'src/cli/main.ts']).stderr, /^Installing/)
  })

  test('says that the registry cannot be reached, in one line, and leaves no stamp', (t) => {
    const root = createRoot(t, { main: printArguments })
    copyFileSync(join(repository, 'package.json'), join(root, 'package.json'))
    copyFileSync(join(repository, 'package-lock.json'), join(root, 'package-lock.json'))
    const { status, stdout, stderr } = launch(root, [], {
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_cache: join(root, 'empty-cache'),
      npm_config_fetch_retries: '0',
    })
    const [, fault, ...more] = stderr.trimEnd().split('\n')
    assert.match(
      fault ?? '',
      /^odyssey: .*the package registry cannot be reached \(ECONNREFUSED\)\. npm says: .*127\.0\.0\.1:9/,
    )
    assert.deepEqual(more, [])
    assert.equal(stdout, '')
    assert.equal(status, 1)
    assert.equal(existsSync(join(root, 'node_modules/.odyssey-lock')), false)
    assert.equal(existsSync(join(root, '.odyssey-install')), false)
  })

  for (const [what, code, expected] of [
    ['a full disk', 'ENOSPC', /no space is left on the disk \(ENOSPC\)\. npm says: something happened$/],
    ['a lockfile that disagrees', 'EUSAGE', /package\.json and package-lock\.json do not agree/],
    ['anything else', 'EODD', /npm failed \(EODD\)\. npm says: something happened$/],
  ] as const) {
    test(`says what is wrong: ${what}`, (t) => {
      const npm = `console.error('npm error code ${code}\\nnpm error something happened'); process.exit(1)`
      const root = createRoot(t, { npm, main: printArguments })
      const { status, stderr } = launch(root, [])
      assert.match(stderr.trimEnd(), expected)
      assert.equal(status, 1)
    })
  }

  test('says that npm is missing', (t) => {
    const root = createRoot(t, { main: printArguments })
    writeFileSync(join(root, 'package-lock.json'), lockfile({}))
    const { status, stderr } = launch(root, [], { PATH: join(root, 'bin') })
    assert.match(stderr, /npm was not found; version 8 or newer is needed\.\n$/)
    assert.equal(status, 1)
  })

  test('takes no stamp when npm left out the pinned Node', (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const name = pinnedNode(root)
      .slice(root.length + 1)
      .split(/[\\/]/)[1]
    writeFileSync(
      join(root, 'package-lock.json'),
      lockfile({ [`node_modules/${name}`]: { version: '1.0.0', optional: true } }),
    )
    const { status, stderr } = launch(root, [])
    assert.match(stderr, /npm left out the pinned Node/)
    assert.equal(status, 1)
    assert.notEqual(launch(root, []).status, 0)
  })
})

suite('two starts at once', () => {
  const slowly = `setTimeout(() => {${npmInstalls}}, 1000)`

  test('install once, and both run', async (t) => {
    const root = createRoot(t, { npm: slowly, main: printArguments })
    const ends = await Promise.all([1, 2, 3].map((number) => ended(start(root, [String(number)]))))
    assert.deepEqual(ends.map(({ stdout }) => stdout).toSorted(), ['["1"]\n', '["2"]\n', '["3"]\n'])
    assert.equal(diary(root).length, 1)
    assert.equal(existsSync(join(root, '.odyssey-install')), false)
  })

  test("a lock is nobody else's while its owner notes who else works under it", onPosix, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-lock-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const directory = join(folder, 'lock')
    const lockFile = JSON.stringify(join(import.meta.dirname, 'lock.cjs'))
    const owner = spawn(process.execPath, [
      '-e',
      `require(${lockFile}).lock(${JSON.stringify(directory)}).then((held) => {
        console.log('held')
        const noteAgain = () => { for (let i = 0; i < 200; i++) held.alsoHeldBy(process.pid); setImmediate(noteAgain) }
        noteAgain()
      })`,
    ])
    t.after(() => owner.kill('SIGKILL'))
    await once(owner.stdout, 'data')
    let tookOver = 0
    const waiting = Array.from({ length: 20 }, () => lock(directory).then(() => (tookOver += 1)))
    await sleep(1500)
    assert.equal(tookOver, 0)
    assert.equal(owner.exitCode, null)
    owner.kill('SIGKILL')
    // The lock of one that is dead, and of this process itself, is anyone's, so that all of them come to an end.
    await Promise.all(waiting)
  })

  test('a lock whose owner is dead or has long been silent does not last', (t) => {
    const dead = spawnSync(process.execPath, ['--version']).pid
    const hourAgo = new Date(Date.now() - 3_600_000)
    for (const [pid, writtenAt] of [
      [dead, new Date()],
      [process.pid, hourAgo],
    ] as const) {
      const root = createRoot(t, { npm: npmInstalls, main: printArguments })
      const token = join(root, '.odyssey-install', `${pid}-1`)
      mkdirSync(dirname(token))
      writeFileSync(token, '')
      utimesSync(token, writtenAt, writtenAt)
      assert.equal(launch(root, []).status, 0)
      assert.equal(existsSync(dirname(token)), false)
    }
  })

  test('a lock whose owner is at work is waited for', async (t) => {
    const root = createRoot(t, { npm: npmInstalls, main: printArguments })
    const token = join(root, '.odyssey-install', `${process.pid}-1`)
    mkdirSync(dirname(token))
    writeFileSync(token, '')
    const launcher = start(root, [])
    const end = ended(launcher)
    await sleep(1000)
    assert.equal(launcher.exitCode, null)
    assert.equal(diary(root).length, 0)
    rmSync(dirname(token), { recursive: true })
    assert.equal((await end).code, 0)
    assert.equal(diary(root).length, 1)
  })

  test('a stopped installation ends npm, gives the lock back and leaves no stamp', onPosix, async (t) => {
    const root = createRoot(t, { npm: 'setInterval(() => {}, 1000)', main: printArguments })
    const launcher = start(root, [])
    const end = ended(launcher)
    while (diary(root).length === 0) await sleep(20)
    launcher.kill('SIGTERM')
    assert.equal((await end).signal, 'SIGTERM')
    assert.throws(() => process.kill(diary(root)[0]?.pid ?? 0, 0), { code: 'ESRCH' })
    assert.equal(existsSync(join(root, '.odyssey-install')), false)
    assert.equal(readFileSync(join(root, 'node_modules/.odyssey-lock'), 'utf8'), 'unfinished')

    writeFileSync(join(root, 'node_modules/half'), '')
    copyFileSync(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
    writeFileSync(join(root, 'npm/npm-cli.js'), npmInstalls)
    assert.equal(launch(root, []).status, 0)
    assert.equal(existsSync(join(root, 'node_modules/half')), false)
  })
})

suite('finding Node', () => {
  const recent = { execPath: '/somewhere/node', version: '24.0.0' }
  const old = { execPath: '/somewhere/node', version: '20.20.2' }

  test('prefers the pinned one', () => {
    assert.equal(findNode(repository, recent), pinnedNode(repository))
  })

  test('is content with the current one, if recent, where the pinned one is missing or cannot run', (t) => {
    const root = createRoot(t, {})
    assert.equal(findNode(root, recent), recent.execPath)
    const pinned = pinnedNode(root)
    mkdirSync(dirname(pinned), { recursive: true })
    writeFileSync(pinned, 'made for another system')
    chmodSync(pinned, 0o755)
    assert.equal(findNode(root, recent), recent.execPath)
  })

  test('says what is needed where there is neither', (t) => {
    assert.throws(
      () => findNode(createRoot(t, {}), old),
      /^Error: Node 22\.18 or newer is needed: .* its own is 20\.20\.2\.$/,
    )
  })
})

// Where this Node can replace a process the launcher is gone by the time a signal comes;
// older ones stand beside their child, and both ways must look the same from outside.
for (const [way, flags] of [
  ['replacing itself', []],
  ['standing beside its child', ['--require', './no-execve.cjs']],
] as const) {
  suite(`running, ${way}`, onPosix, () => {
    const countSignals = `
      const counts = {}
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {
        counts[signal] = (counts[signal] ?? 0) + 1
        setTimeout(() => { console.log(JSON.stringify(counts)); process.exit(7) }, 600)
      })
      console.log('ready')
      // A signal that is never passed on must fail the test, not keep it waiting.
      setTimeout(() => process.exit(8), 5000)`

    test('passes on the exit code, the working directory and the way to the same Node', (t) => {
      const main = `
        import { dirname, delimiter } from 'node:path'
        const first = process.env.PATH.split(delimiter)[0]
        console.log(JSON.stringify([process.cwd(), first === dirname(process.execPath), process.env.NODE_COMPILE_CACHE]))
        process.exit(3)`
      const root = createRoot(t, { main })
      const cwd = join(root, 'bin')
      const { status, stdout } = launch(root, [], {}, { cwd, flags: flags.map((flag) => flag.replace('./', '../')) })
      assert.deepEqual(JSON.parse(stdout), [cwd, true, join(root, 'node_modules/.cache/compile')])
      assert.equal(status, 3)
    })

    test('has the child give large blocks back, and leaves settings of that kind to who has made some', (t) => {
      const main = 'console.log(process.env.MALLOC_MMAP_THRESHOLD_, process.env.MALLOC_ARENA_MAX)'
      const { stdout } = launch(createRoot(t, { main }), [], { MALLOC_ARENA_MAX: '7' }, { flags })
      assert.equal(stdout, '131072 7\n')
    })

    test('ends by the signal that ended the child', async (t) => {
      const root = createRoot(t, { main: "process.kill(process.pid, 'SIGKILL')" })
      assert.equal((await ended(start(root, [], { flags }))).signal, 'SIGKILL')
    })

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      test(`${signal} to the launcher alone reaches the child once`, async (t) => {
        const launcher = start(createRoot(t, { main: countSignals }), [], { flags })
        const end = ended(launcher)
        await ready(launcher)
        launcher.kill(signal)
        const { stdout, code } = await end
        assert.equal(stdout, `ready\n{"${signal}":1}\n`)
        assert.equal(code, 7)
      })

      test(`${signal} to the whole group reaches the child once, also when npm repeats it`, async (t) => {
        const launcher = start(createRoot(t, { main: countSignals }), [], { flags, detached: true })
        const end = ended(launcher)
        await ready(launcher)
        process.kill(-(launcher.pid ?? 0), signal)
        if (way !== 'replacing itself') setTimeout(() => launcher.kill(signal), 50)
        const { stdout, code } = await end
        assert.equal(stdout, `ready\n{"${signal}":1}\n`)
        assert.equal(code, 7)
      })
    }
  })
}

test('a child stops when npm has ended the shell around the launcher', onPosix, async (t) => {
  const main =
    "process.on('SIGTERM', () => { console.log('stopped'); process.exit(0) })\nconsole.log(process.ppid)\nsetTimeout(() => {}, 8000)"
  const root = createRoot(t, { main })
  const script = `"${process.execPath}" bin/odyssey.cjs; true`
  const shell = spawn('sh', ['-c', script], { cwd: root, env: environment(root, { npm_lifecycle_event: 'start' }) })
  const end = ended(shell)
  await ready(shell)
  shell.kill('SIGTERM')
  assert.match((await end).stdout, /^\d+\nstopped\n$/)
})

type RootParts = { readonly npm?: string; readonly main?: string }

/** A repository with the launcher; with a lockfile where there is something to install and a fake npm where given. */
function createRoot(t: TestContext, { npm, main }: RootParts): string {
  const root = mkdtempSync(join(tmpdir(), 'launcher-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'src/cli', 'npm']) mkdirSync(join(root, folder), { recursive: true })
  for (const file of globSync('*.cjs', { cwd: import.meta.dirname })) {
    copyFileSync(join(import.meta.dirname, file), join(root, 'bin', file))
  }
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, 'no-execve.cjs'), 'process.execve = undefined')
  writeFileSync(join(root, 'src/cli/main.ts'), main ?? '')
  if (npm !== undefined) {
    const settings = "Object.keys(process.env).filter((name) => name.startsWith('npm_config_'))"
    const entry = `JSON.stringify({ pid: process.pid, args: process.argv.slice(2), settings: ${settings} })`
    const write = `require('fs').appendFileSync('diary', ${entry} + '\\n')`
    writeFileSync(join(root, 'npm/package.json'), '{ "type": "commonjs" }')
    writeFileSync(join(root, 'npm/npm-cli.js'), `${write}\n${npm}`)
    writeFileSync(join(root, 'package-lock.json'), lockfile({ 'node_modules/thing': { version: '1.0.0' } }))
  }
  return root
}

function lockfile(packages: Readonly<Record<string, object>>): string {
  return JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } })
}

type DiaryEntry = { readonly pid: number; readonly args: readonly string[]; readonly settings: readonly string[] }

function diary(root: string): DiaryEntry[] {
  const file = join(root, 'diary')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.map((line): DiaryEntry => JSON.parse(line))
}

type Variables = Readonly<Record<string, string>>

/** The environment of a plain shell: without the settings of the npm that runs these tests. */
function environment(root: string, more: Variables): Variables {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/i.test(name))
  const npm = join(root, 'npm/npm-cli.js')
  return { ...Object.fromEntries(own), ...(existsSync(npm) ? { npm_execpath: npm } : {}), ...more } as Variables
}

type LaunchOptions = { readonly cwd?: string; readonly flags?: readonly string[]; readonly detached?: boolean }

function launch(root: string, args: readonly string[], more: Variables = {}, options: LaunchOptions = {}) {
  const { cwd = root, flags = [] } = options
  const command = [...flags, join(root, 'bin/odyssey.cjs'), ...args]
  return spawnSync(process.execPath, command, { cwd, env: environment(root, more), encoding: 'utf8', timeout: 60_000 })
}

function start(root: string, args: readonly string[], { flags = [], detached = false }: LaunchOptions = {}) {
  const command = [...flags, join(root, 'bin/odyssey.cjs'), ...args]
  return spawn(process.execPath, command, { cwd: root, env: environment(root, {}), detached, timeout: 60_000 })
}

async function ended(launcher: ChildProcess) {
  let stdout = ''
  launcher.stdout?.on('data', (text) => (stdout += text))
  const [code, signal] = await once(launcher, 'close')
  return { code, signal, stdout }
}

/** The child listens for signals; what the launcher still starts beside it gets a moment. */
async function ready(launcher: ChildProcess): Promise<void> {
  if (launcher.stdout === null) throw new Error('The launcher has no output.')
  await once(launcher.stdout, 'data')
  await sleep(100)
}
