import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../src/config/load.ts'
import { startService, type Service } from '../harness/start-service.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]

type Snippet = { readonly page: string; readonly language: string; readonly code: string }

const snippets: Snippet[] = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(
    ([, language = '', code = '']) => ({
      page,
      language,
      code,
    }),
  ),
)
const of = (language: string, part: string) =>
  snippets.filter((snippet) => snippet.language === language && snippet.code.includes(part))

describe('the documentation', () => {
  let service: Service
  before(async () => {
    service = await startService({ weights: 'built-in' })
  })
  after(() => service.stop())

  const here = (code: string) => code.replaceAll('http://127.0.0.1:8080', service.address)
  // A home folder too: some commands change the settings of the clients in it.
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: join(service.home, 'somebody'),
    ODYSSEY_KEY: service.key,
    ODYSSEY_HOME: service.home,
  })

  for (const { page, code } of of('sh', 'curl')) {
    // The page on the management API has a test of its own.
    if (code.includes('/api/v1/')) continue
    it(`${page}: ${code.split('\n', 1)[0]}`, async () => {
      const { stdout } = await run('sh', ['-c', here(code).replaceAll('curl ', 'curl --silent --fail ')], {
        env: environment(),
      })
      assert.match(stdout, /"role":"assistant"/)
    })
  }

  for (const { page, code } of of('js', 'import')) {
    it(`${page}: ${code.split('\n', 1)[0]}`, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', here(code)], {
        env: environment(),
        cwd: root,
      })
      assert.ok(stdout.trim().length > 0)
    })
  }

  for (const { page, code } of of('sh', 'npx odyssey')) {
    for (const command of code.trim().split('\n')) {
      it(`${page}: ${command}`, async () => {
        const args = command.replace('npx odyssey ', '').split(' ')
        const [last = ''] = args.slice(-1)
        if (last === 'key_…') args.splice(-1, 1, await someKeyId())
        const { stdout } = await run(process.execPath, ['src/cli/main.ts', ...args], { env: environment(), cwd: root })
        assert.ok(stdout.trim().length > 0)
      })
    }
  }

  async function someKeyId(): Promise<string> {
    const args = ['src/cli/main.ts', 'keys', 'create', '--name', 'to revoke', '--json']
    const { stdout } = await run(process.execPath, args, { env: environment(), cwd: root })
    return (JSON.parse(stdout) as { id: string }).id
  }

  for (const { page, code } of of('json', '"models"')) {
    it(`${page}: its config file is valid`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'odyssey-docs-'))
      writeFileSync(join(folder, 'odyssey.json'), code)
      assert.ok(loadConfig({ ODYSSEY_HOME: folder }, folder))
      rmSync(folder, { recursive: true })
    })
  }

  it('links only to files that are there', () => {
    for (const page of pages) {
      for (const [, target = ''] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)) {
        assert.ok(existsSync(join(root, dirname(page), target)), `${page} links to ${target}`)
      }
    }
  })

  it('names only files that are there in the page on the architecture', () => {
    const text = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    for (const [, path = ''] of text.matchAll(
      /`((?:core|http|inference|accounts|billing|limits|scheduling|engines|protocols|cli|config|db)\/[\w/.-]+\.ts)`/g,
    )) {
      assert.ok(existsSync(join(root, 'src', path)), path)
    }
  })
})
