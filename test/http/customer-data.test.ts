// What customers are promised: none of their text is kept, on the disk or in memory, and a refusal says whom to ask for
// more.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ask, bodyFor, formats, longAnswerBody, paths } from '../harness/http/ask.ts'
import { memoryEnvironment, readMemory, readOpenFiles, readWrittenFiles } from '../harness/kept/kept-text.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

const secret = 'quetzalcoatlus northropi'
const contact = 'capacity@odyssey.example'
const promptsOfEach = 60
const folder = mkdtempSync(join(tmpdir(), 'odyssey-memory-'))
const snapshot = join(folder, 'memory.heapsnapshot')

let service: Service
before(async () => {
  service = await startService({
    environment: memoryEnvironment(snapshot),
    config: {
      contact,
      limits: { countsPerKeyMinuteMax: 1 },
      models: { 'hal-1.0': { lifecycle: { deprecatedAt: '2027-01-01', retiresAt: '2027-07-01' } } },
    },
  })
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

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

async function sendPrompts(): Promise<void> {
  const messages = [{ role: 'user', content: `Tell of ${secret}.` }]
  const kinds = [{ max_tokens: 2 }, { max_tokens: 2, stream: true }, { max_tokens: 2, temperature: secret }]
  for (const format of formats) {
    for (let count = 0; count < promptsOfEach; count += kinds.length) {
      const sent = kinds.map((kind) => post(paths[format], bodyFor(format, { messages, ...kind })))
      const statuses = (await Promise.all(sent)).map(({ status }) => status)
      equal(statuses.join(), '200,200,400')
    }
  }
}

test('a prompt is in the memory of the service while it is worked on, and no longer', async () => {
  await sendPrompts()
  const parts = secret.split(' ')
  const leaving = new AbortController()
  const before = service.ledger().length
  const running = fetch(`${service.address}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify({
      ...longAnswerBody('messages'),
      stream: true,
      messages: [{ role: 'user', content: secret }],
    }),
    signal: leaving.signal,
  })
  const reader = (await running).body?.getReader()
  await reader?.read()
  const during = await readMemory(service, snapshot)
  ok(
    parts.every((part) => during.includes(part)),
    'It would not be found if it was there.',
  )
  leaving.abort()
  await reader?.cancel().catch(() => {})
  // On a busy machine the memory is written for so long that the answer has come to its end by itself.
  await until(() => service.ledger().length > before, 'The request did not end.')
  // Connections and timers let go of what they held a moment later.
  await until(
    async () => {
      const after = await readMemory(service, snapshot)
      ok(after.includes(contact))
      return parts.every((part) => !after.includes(part))
    },
    'A prompt is held after its end.',
    60_000,
  )
})

test(
  'no prompt is in a file that a process of the service has open, whatever it is called',
  { skip: process.platform !== 'linux' },
  async () => {
    await sendPrompts()
    const open = await readOpenFiles(service)
    for (const [file, content] of open) {
      for (const part of secret.split(' ')) equal(content.includes(part), false, `${part} is in ${file}`)
    }
    ok(open.size > 0)
  },
)

test('no prompt is in what the service has written, whether it was answered, streamed or refused', async () => {
  await sendPrompts()
  const row = service.ledger().at(-1)?.request_id ?? ''
  equal(await service.stop(), 0)
  const contents = [...readWrittenFiles(service).values()]
  const { stdout, stderr } = service.output()
  // It would find a prompt if there was one: the same requests' ids are there.
  ok(row !== '' && contents.some((content) => content.includes(row)))
  for (const part of secret.split(' ')) {
    equal(contents.filter((content) => content.includes(part)).length, 0, part)
    ok(!stdout.includes(part) && !stderr.includes(part), part)
  }
})
