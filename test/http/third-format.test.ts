// What it takes to speak a third wire format: its folder, and its name in the one list. The service's source is copied
// with both, and nothing else of it is touched.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { FakeService, startFakeService } from '../harness/fake-service.ts'

const root = new URL('../../', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'odyssey-format-'))
let service: FakeService

before(async () => {
  for (const part of ['src', 'test/harness', 'scripts', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const protocols = join(folder, 'src/protocols')
  const format = readFileSync(join(root, 'test/fixtures/third-format/plain-format.ts'), 'utf8')
  mkdirSync(join(protocols, 'plain'))
  writeFileSync(join(protocols, 'plain/plain-format.ts'), format.replaceAll('../../../src/', '../../'))
  const list = join(protocols, 'formats.ts')
  const listed = readFileSync(list, 'utf8').replace('[chatCompletionsFormat,', '[plainFormat, chatCompletionsFormat,')
  writeFileSync(list, `import { plainFormat } from './plain/plain-format.ts'\n${listed}`)
  type Harness = { readonly startFakeService: typeof startFakeService }
  const harness: Harness = await import(pathToFileURL(join(folder, 'test/harness/fake-service.ts')).href)
  service = await harness.startFakeService({})
})
after(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const ask = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.address}/v1/plain`, {
    method: 'POST',
    headers: { authorization: `Plain ${service.key}`, ...headers },
    body: JSON.stringify(body),
  })
const end = (text: string) => text.trim().split('\n').slice(-2)

test('a third format is served, with its own key header, and billed under its name', async () => {
  const response = await ask({ model: 'hal-1.0', question: 'One two' })
  equal(response.status, 200)
  deepEqual(end(await response.text()), ['event: end', 'data: 2'])
  const row = await service.db.selectFrom('ledger').select(['protocol', 'output']).executeTakeFirstOrThrow()
  deepEqual([row.protocol, Number(row.output)], ['plain', 2])
})

test('a large body of a third format is decoded in a thread', async () => {
  const response = await ask({ model: 'hal-1.0', question: 'word '.repeat(200_000) })
  equal(response.status, 200)
  deepEqual(end(await response.text()), ['event: end', 'data: 100'])
})

test('errors on the paths of a third format are its own', async () => {
  const malformed = await ask({ model: 'hal-1.0' })
  deepEqual([malformed.status, await malformed.json()], [400, { plain: 'Both model and question are texts.' }])
  const wrongMethod = await fetch(`${service.address}/v1/plain`, { headers: { authorization: `Plain ${service.key}` } })
  equal(wrongMethod.status, 405)
  match(JSON.stringify(await wrongMethod.json()), /plain/)
  const wrongBase = await fetch(`${service.address}/plain`)
  match(await wrongBase.text(), /Put \/v1 before it/)
})

test('the other formats are served beside a third', async () => {
  const response = await fetch(`${service.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify({ model: 'hal-1.0', messages: [{ role: 'user', content: 'One two' }] }),
  })
  ok(response.ok, await response.text())
})
