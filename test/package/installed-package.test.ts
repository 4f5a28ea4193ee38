// The package as its user has it: made, installed into an empty folder, started with npx.

import { equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../harness/start-service.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { npmEnvironment } = createRequire(import.meta.url)('../../bin/npm.cjs') as {
  npmEnvironment(): NodeJS.ProcessEnv
}
const folder = mkdtempSync(join(tmpdir(), 'odyssey-package-'))
const home = join(folder, 'data')
const environment = { ...npmEnvironment(), ODYSSEY_HOME: home, PORT: '0' }
const unreachable = /ENOTFOUND|EAI_AGAIN|ECONN|TIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED/

before(() => {
  const script = join(root, 'scripts/build-package.ts')
  const made = execFileSync(process.execPath, [script, folder], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=warn']
  const { status, stderr } = spawnSync('npm', ['install', ...flags, made], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  })
  if (status !== 0 && unreachable.test(stderr)) installByHand(made)
  else equal(status, 0, stderr)
  ok(!stderr.includes('EBADENGINE'), stderr)
})
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Where no registry can be reached: the package beside the dependencies that this repository has, and no others. */
function installByHand(made: string): void {
  console.log('No registry can be reached: the package gets the dependencies that are here.')
  const modules = join(folder, 'node_modules')
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(join(modules, '.bin'), { recursive: true })
  execFileSync('tar', ['xzf', made, '-C', modules])
  execFileSync('mv', [join(modules, 'package'), join(modules, 'odyssey')])
  symlinkSync('../odyssey/bin/odyssey.cjs', join(modules, '.bin/odyssey'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>
  }
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev === true) continue
    const scope = dirname(path.slice('node_modules/'.length))
    mkdirSync(join(modules, scope), { recursive: true })
    if (readdirSync(join(root, dirname(path))).includes(basename(path)))
      symlinkSync(join(root, path), join(folder, path))
  }
}

const statusOf = () => {
  const { pid, address } = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8')) as {
    pid: number
    address: string
  }
  return { pid, address }
}

/** Killing npx leaves the service, which holds the pipes that keep this process from ending. */
function endService(): void {
  try {
    process.kill(statusOf().pid, 'SIGKILL')
  } catch {
    // It has ended by itself, as it should.
  }
}

test('what the pages say to install out of the package is in it', () => {
  const page = readFileSync(join(folder, 'node_modules/odyssey/docs/operations/systemd.md'), 'utf8')
  const [, unit = ''] = /\/opt\/odyssey\/(\S+\.service)/.exec(page) ?? []
  match(readFileSync(join(folder, 'node_modules/odyssey', unit), 'utf8'), /^\[Service\]$/m)
})

test('what npm installs into an empty folder starts with npx and answers', async () => {
  const child = spawn('npx', ['--no-install', 'odyssey', 'serve'], { cwd: folder, env: environment })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  try {
    await until(() => output.includes('listening at'), 'The service did not start.', 120_000).catch(
      (error: unknown) => {
        throw new Error(output, { cause: error })
      },
    )
    const { pid, address } = statusOf()
    await until(async () => (await fetch(`${address}/readyz`)).ok, 'The service did not become ready.', 120_000)
    const key = readFileSync(join(home, 'first-api-key'), 'utf8').trim()
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'clarke-1.0',
        max_tokens: 20,
        messages: [{ role: 'user', content: 'What are you?' }],
      }),
    })
    const answer = (await response.json()) as { choices: { message: { content: string } }[] }
    ok(answer.choices[0]!.message.content.length > 0, JSON.stringify(answer))
    match(
      execFileSync('npx', ['--no-install', 'odyssey', 'models'], { cwd: folder, env: environment, encoding: 'utf8' }),
      /clarke-1\.0 +ready/,
    )
    // The dashboard was built with the package, so nothing has to be fetched for it.
    const page = await fetch(`${address}/login`, { headers: { accept: 'text/html' } })
    equal(page.status, 200)
    match(await page.text(), /<script type="module" crossorigin src="\/assets\/[\w-]+\.js"/)
    process.kill(pid, 'SIGTERM')
    await ended
  } finally {
    child.kill('SIGKILL')
    endService()
  }
})

test('the package holds no source, no tests and nothing of this repository’s tools', () => {
  const names = readdirSync(join(folder, 'node_modules/odyssey')).toSorted()
  const expected = 'LICENSE README.md SECURITY.md bin deploy dist docs package.json web weights'.split(' ')
  equal(names.filter((name) => name !== 'node_modules').join(), expected.join())
  const files = readdirSync(join(folder, 'node_modules/odyssey/dist'), { recursive: true, encoding: 'utf8' })
  equal(readdirSync(join(folder, 'node_modules/odyssey/web')).join(), 'dist')
  equal(files.filter((name) => /\.(ts|cts)$|\.test\./.test(name)).join(), '')
})
