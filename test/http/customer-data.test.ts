// What customers are promised: none of their text is on the disk, and a refusal says whom to ask for more.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ask, bodyFor, formats, paths } from '../harness/http/ask.ts'
import { startService, type Service } from '../harness/start-service.ts'

const secret = 'quetzalcoatlus northropi'
const contact = 'capacity@odyssey.example'
const promptsOfEach = 60

let service: Service
before(async () => {
  service = await startService({
    config: {
      contact,
      limits: { countsPerKeyMinuteMax: 1 },
      models: { 'hal-1.0': { lifecycle: { deprecatedAt: '2027-01-01', retiresAt: '2027-07-01' } } },
    },
  })
})
after(() => service.stop())

async function post(path: string, body: unknown): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

test('a limit that is reached says whom to ask for more', async () => {
  const body = { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello!' }] }
  equal((await post('/v1/messages/count_tokens', body)).status, 200)
  const { status, text } = await post('/v1/messages/count_tokens', body)
  equal(status, 429)
  match(text, new RegExp(`For higher limits ask ${contact}\\.`))
})

test('every answer of a model whose end is announced says when, whole or streamed, and of no other', async () => {
  for (const format of formats) {
    for (const fields of [{ stream: false }, { stream: true }]) {
      const ended = async (model: string) => {
        const body = bodyFor(format, { max_tokens: 2, ...fields, model })
        const { headers } = await ask(service, paths[format], { body })
        return [headers.get('deprecation'), headers.get('sunset')]
      }
      deepEqual(await ended('hal-1.0'), ['@1798761600', 'Thu, 01 Jul 2027 00:00:00 GMT'])
      deepEqual(await ended('clarke-1.0'), [null, null])
    }
  }
})

test('no prompt is in what the service has written, whether it was answered, streamed or refused', async () => {
  const messages = [{ role: 'user', content: `Tell of ${secret}.` }]
  const kinds = [{ max_tokens: 2 }, { max_tokens: 2, stream: true }, { max_tokens: 2, temperature: secret }]
  for (const format of formats) {
    for (let count = 0; count < promptsOfEach; count += kinds.length) {
      const sent = kinds.map((kind) => post(paths[format], bodyFor(format, { messages, ...kind })))
      const statuses = (await Promise.all(sent)).map(({ status }) => status)
      equal(statuses.join(), '200,200,400')
    }
  }
  const row = service.ledger().at(-1)?.request_id ?? ''
  equal(await service.stop(), 0)
  const files = globSync('**/*', { cwd: service.home }).map((name) => join(service.home, name))
  const contents = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file))
  const { stdout, stderr } = service.output()
  // It would find a prompt if there was one: the same requests' ids are there.
  ok(row !== '' && contents.some((content) => content.includes(row)))
  for (const part of secret.split(' ')) {
    equal(contents.filter((content) => content.includes(part)).length, 0, part)
    ok(!stdout.includes(part) && !stderr.includes(part), part)
  }
})
