// The pages for customers: what their tables are made of, and what their code does when it is refused.

import { equal, ok } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { modelEquivalents } from '../../src/core/model-equivalents.ts'

const run = promisify(execFile)
const pages = join(import.meta.dirname, '../../docs/customers')
const folder = mkdtempSync(join(tmpdir(), 'odyssey-customers-'))

test('the page on models lists what takes the place of which model', () => {
  const rows = modelEquivalents.map(
    ({ kind, model, examples }) => `| ${kind} | ${examples.map((name) => `\`${name}\``).join(', ')} | \`${model}\` |`,
  )
  const table = ['| A | such as | becomes |', '| - | - | - |', ...rows].join('\n')
  ok(readFileSync(join(pages, 'models.md'), 'utf8').includes(table), `docs/customers/models.md needs:\n${table}`)
})

/** The programs of the page, and how a machine that has the language runs them. */
const languages = [
  { language: 'js', file: 'ask.mjs', command: [process.execPath], probe: [process.execPath, '--version'] },
  { language: 'python', file: 'ask.py', command: ['python3'], probe: ['python3', '--version'] },
  { language: 'go', file: 'ask.go', command: ['go', 'run'], probe: ['go', 'version'] },
  { language: 'java', file: 'Ask.java', command: ['java'], probe: ['java', '--version'] },
] as const

const page = readFileSync(join(pages, 'limits.md'), 'utf8')
const answer = '{"choices":[{"message":{"content":"it has come"}}]}'

let server: Server
let address: string
/** Requests by the key they came with: each program has one of its own. */
const counts = new Map<string, number>()

before(async () => {
  server = createServer((request, response) => {
    const key = request.headers.authorization ?? ''
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    request.resume()
    request.on('end', () => {
      if (key.includes('hopeless')) response.writeHead(429, { 'x-should-retry': 'false' }).end('not at all')
      else if (count === 1) response.writeHead(429, { 'retry-after': '0', 'x-should-retry': 'true' }).end('later')
      else if (count === 2) response.writeHead(500).end('a failure')
      else response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

for (const { language, file, command, probe } of languages) {
  const [name, ...words] = probe
  const skip = spawnSync(name, words).status === 0 ? false : `there is no ${language} on this machine`
  test(`the code in ${language} waits and tries again, and gives up where it is told to`, { skip }, async () => {
    const code = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? ''
    const path = join(folder, file)
    writeFileSync(path, code.replaceAll('http://127.0.0.1:8080', address))
    const [program, ...before] = command
    const start = (key: string) =>
      run(program, [...before, path], { env: { ...process.env, GOFLAGS: '', ODYSSEY_KEY: key } })
    const { stdout } = await start(`passing-${language}`)
    ok(stdout.includes('it has come'), stdout)
    equal(counts.get(`Bearer passing-${language}`), 3)
    await start(`hopeless-${language}`).then(
      () => ok(false, 'It should have failed.'),
      ({ stderr }: { stderr: string }) => ok(stderr.includes('not at all'), stderr),
    )
    equal(counts.get(`Bearer hopeless-${language}`), 1)
  })
}
