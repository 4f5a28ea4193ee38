import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../src/config/load.ts'
import { compileCache, productProgram } from '../harness/as-launched.ts'
import { guideGroups } from '../../web/guides/guide-list.ts'
import { findFreePort } from '../harness/http/find-free-port.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { describeProvider } from '../single-sign-on/saml/saml-provider.ts'
import { newKey } from '../single-sign-on/saml/sign-tree.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]

/** Backups and restores need a service that does not run, and have a test of their own. */
const isCommandHere = (line: string) => /^npx odyssey (?!backup|restore|import)/.test(line)

/** A server waits for what is sent to it, and so has a test of its own. */
const isReceiver = (code: string) => code.includes('createServer')

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
    service = await startService({
      weights: 'built-in',
      config: { alerts: { allowedNetworks: ['127.0.0.1/32'] } },
    })
  })
  after(() => service.stop())

  const here = (code: string) => code.replaceAll('http://127.0.0.1:8080', service.address)
  // A home folder too: some commands change the settings of the clients in it.
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    ...compileCache,
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
    if (isReceiver(code)) continue
    it(`${page}: ${code.split('\n', 1)[0]}`, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', here(code)], {
        env: environment(),
        cwd: root,
      })
      assert.ok(stdout.trim().length > 0)
    })
  }

  for (const { page, code } of of('js', 'import').filter((snippet) => isReceiver(snippet.code))) {
    it(`${page}: a test arrives at the receiver, and nothing that somebody else has signed`, async (t) => {
      const port = await findFreePort()
      const address = `http://127.0.0.1:${port}/`
      const wanted = `--name "On call" --address ${address} --topics budget.threshold`
      const made = await odyssey(`npx odyssey alerts create ${wanted} --json`)
      const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string }
      const words = ['--input-type=module', '--eval', code.replace('9000', String(port))]
      const receiver = spawn(process.execPath, words, { env: { WEBHOOK_SECRET: secret }, cwd: root })
      t.after(() => receiver.kill())
      let printed = ''
      receiver.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
      await until(() => printed.includes('listens'), 'The receiver does not listen.')
      assert.equal((await fetch(address, { method: 'POST', body: '{}' })).status, 400)
      await odyssey(`npx odyssey alerts test ${id}`)
      await until(() => printed.includes('channel.test {"channel":"On call"}'), 'Nothing arrives.')
      await until(async () => {
        const { stdout } = await odyssey('npx odyssey alerts list')
        return stdout.split('\n').some((line) => line.startsWith(id) && line.includes('  delivered '))
      }, 'The list does not say that it arrived.')
    })
  }

  // As in the pages of clients, which have a test of their own: ODYSSEY_TEST_PYTHON names one with the libraries.
  const python = process.env['ODYSSEY_TEST_PYTHON']
  for (const { page, code } of python === undefined ? [] : of('python', 'import')) {
    if (page.startsWith(join('docs', 'clients')) || page.startsWith(join('docs', 'customers'))) continue
    it(`${page}: ${code.split('\n', 2)[1]}, in Python`, async () => {
      const { stdout } = await run(python ?? '', ['-c', here(code)], { env: environment() })
      assert.ok(stdout.trim().length > 0)
    })
  }

  for (const { page, code } of of('sh', 'npx odyssey')) {
    for (const command of code.trim().split('\n').filter(isCommandHere)) {
      it(`${page}: ${command}`, async () => {
        const { stdout } = await odyssey(await fillIn(command))
        assert.ok(stdout.trim().length > 0 || command.includes(' > '))
      })
    }
  }

  function odyssey(command: string) {
    const program = `${process.execPath} ${productProgram}`
    return run('sh', ['-c', command.replace('npx odyssey', program)], { env: environment(), cwd: service.home })
  }

  /** Puts ids of things that are there in the place of those that a page only hints at. */
  async function fillIn(command: string): Promise<string> {
    if (command.includes('$VERIFIER')) {
      const { stdout } = await odyssey('npx odyssey audit keys')
      return command.replace('$VERIFIER', stdout.trim())
    }
    if (command.includes('secret.txt')) writeFileSync(join(service.home, 'secret.txt'), 'of a client')
    if (command.includes('metadata.xml')) {
      const { certificate } = await newKey('provider')
      writeFileSync(join(service.home, 'metadata.xml'), describeProvider('https://idp.example.com', [certificate]))
    }
    if (!command.includes('…')) return command
    if (command.includes('audit_…')) {
      const [first = ''] = (await odyssey('npx odyssey audit export --organization org_default')).stdout.split('\n')
      return command.replace('audit_…', (JSON.parse(first) as { id: string }).id)
    }
    const create = async (what: string) =>
      (JSON.parse((await odyssey(`npx odyssey ${what} --json`)).stdout) as { id: string }).id
    if (command.includes('conn_…')) {
      writeFileSync(join(service.home, 'secret.txt'), 'of a client')
      const facts = '--oidc https://idp.example.com --client-id x --client-secret-file secret.txt'
      return command.replace('conn_…', await create(`sso connections create ${facts}`))
    }
    if (command.includes('dir_…')) return command.replace('dir_…', await create('directory create'))
    if (command.includes('budget_…')) {
      return command.replace('budget_…', await create('budgets set --period week --amount 50'))
    }
    if (command.includes('mem_…') && !command.includes('org_…')) {
      const owner = await create(`members create --email ${randomUUID()}@acme.example --role owner`)
      return command.replace('mem_…', owner)
    }
    if (!command.includes('org_…')) return command.replace('key_…', await create('keys create --name mine'))
    const made = await odyssey('npx odyssey organizations create --name Somewhere --json')
    const { organizationId, projectId } = JSON.parse(made.stdout) as { organizationId: string; projectId: string }
    const inside = `--organization ${organizationId}`
    const member = await create(`members create --email somebody@acme.example --role developer ${inside}`)
    if (command.includes('--owner'))
      await odyssey(`npx odyssey members show ${member} --project ${projectId} ${inside}`)
    const ids = { 'org_…': organizationId, 'proj_…': projectId, 'mem_…': member }
    return Object.entries(ids).reduce((text, [hint, id]) => text.replace(hint, id), command)
  }

  for (const { page, code } of [...of('json', '"models"'), ...of('json', '"sinks"'), ...of('json', '"alerts"')]) {
    it(`${page}: its config file is valid`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'odyssey-docs-'))
      writeFileSync(join(folder, 'odyssey.json'), code)
      const variables = Array.from(code.matchAll(/"env:(\w+)"/g), ([, name = '']) => [name, 'set'] as const)
      assert.ok(loadConfig({ ODYSSEY_HOME: folder, ...Object.fromEntries(variables) }, folder))
      rmSync(folder, { recursive: true })
    })
  }

  it('leads from the start to each SDK, plain and streamed, and on to a price, a budget and an alert, first of all guides', () => {
    assert.equal(guideGroups[0]?.files[0], 'getting-started.md')
    const own = snippets.filter(({ page }) => page === join('docs', 'getting-started.md'))
    const has = (language: string, ...parts: readonly string[]) =>
      own.some(({ language: one, code }) => one === language && parts.every((part) => code.includes(part)))
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      assert.ok(has('sh', 'curl ', path) && has('sh', 'curl ', path, '"stream": true'), path)
    }
    for (const language of ['js', 'python']) {
      assert.ok(has(language, 'openai', 'stream') && has(language, 'nthropic', 'messages.stream('), language)
    }
    for (const command of ['prices set', 'budgets set --key', 'alerts create']) {
      assert.ok(has('sh', `npx odyssey ${command}`), command)
    }
    // A channel is told of what happens after it was made.
    const order = ['alerts create', 'budgets set'].map((command) =>
      own.findIndex(({ code }) => code.includes(`npx odyssey ${command}`)),
    )
    assert.deepEqual(
      order,
      order.toSorted((one, other) => one - other),
    )
  })

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
