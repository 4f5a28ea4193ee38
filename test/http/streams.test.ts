// Streams that do not go as planned: the engine dies, the client leaves, the service stops.
// A long prompt keeps a stream open without an answer, and slows those beside it down to
// one token per step, so that what happens in their midst does.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, bodyFor, formats, longAnswerBody, longMessages, paths, type Format } from '../harness/http/ask.ts'
import { checkError } from '../harness/check-error.ts'
import {
  checkStream,
  openFormatStream,
  readFrames,
  type LiveStream,
  type StreamEnd,
} from '../harness/http/open-stream.ts'
import { startService, until, type LedgerRow, type Service } from '../harness/start-service.ts'

let service: Service

before(async () => {
  // On a busy machine what was begun may take longer than a service usually waits for it.
  service = await startService({ config: { server: { drainSeconds: 900 } } })
})
after(async () => {
  await service.stop()
})

const begun = /"(role|message_start)"/
const answered = /"(content|reasoning)":"[^"]|"(thinking|text)_delta"/g

type Opened = { readonly format: Format; readonly stream: LiveStream; readonly requestId: string }

async function open(format: Format, fields: Record<string, unknown>): Promise<Opened> {
  const stream = await openFormatStream(service, format, bodyFor(format, fields))
  equal(stream.status, 200, stream.text())
  return { format, stream, requestId: String(stream.headers['request-id']) }
}

/** A stream of either format whose prompt is being computed. */
async function openLong(format: Format, words: number): Promise<Opened & { readonly messages: unknown }> {
  const messages = longMessages(words)
  const opened = await open(format, { messages })
  ok(await opened.stream.has(begun))
  return { ...opened, messages }
}

async function rowOf(requestId: string): Promise<LedgerRow> {
  const find = () => service.ledger().filter((row) => row.request_id === requestId)
  await until(() => find().length > 0, `The ledger has no row of ${requestId}.`)
  const rows = find()
  equal(rows.length, 1)
  return rows[0]!
}

type Broken = { readonly type: string; readonly code?: string }

/** A broken stream: frames as they should be, then an error as its last, and no end. */
function checkBroken(
  { format, requestId }: Opened,
  { text, isWhole }: StreamEnd,
  expected: Record<Format, Broken>,
): void {
  equal(isWhole, false, 'a broken stream is cut')
  const frames = readFrames(text)
  const last = frames.at(-1)
  ok(last !== undefined)
  for (const { event, data } of frames.slice(0, -1)) {
    ok(data !== '[DONE]' && event !== 'message_stop' && event !== 'message_delta' && event !== 'error')
    const fields = JSON.parse(data) as Record<string, unknown>
    ok(!('error' in fields))
    if (format === 'chat') ok((fields['choices'] as { finish_reason: unknown }[])[0]?.finish_reason === null)
  }
  const body = JSON.parse(last.data) as { error: { message: string } & Broken; type?: string; request_id?: string }
  const { message, ...error } = body.error
  match(message, /\S/)
  if (format === 'chat') {
    equal(last.event, undefined)
    deepEqual(body, { error: { message, ...expected.chat, param: null } })
  } else {
    equal(last.event, 'error')
    deepEqual(error, expected.messages)
    deepEqual([body.type, body.request_id], ['error', requestId])
  }
}

function isComplete({ format }: Opened, { text }: StreamEnd): boolean {
  return format === 'chat' ? text.endsWith('data: [DONE]\n\n') : text.includes('event: message_stop\n')
}

for (const format of formats) {
  test(`a stream has the head and the frames of its format, ${format}`, async () => {
    for (const model of ['hal-1.0', 'clarke-1.0']) {
      const { stream } = await open(format, { model })
      const { headers } = stream
      equal(headers['content-type'], 'text/event-stream; charset=utf-8')
      equal(headers['cache-control'], 'no-cache, no-transform')
      equal(headers['x-accel-buffering'], 'no')
      deepEqual([headers['content-length'], headers['content-encoding']], [undefined, undefined])
      equal(headers['x-request-id'], headers['request-id'])
      const { text, isWhole } = await stream.ended
      equal(isWhole, true)
      checkStream(format, text)
    }
  })
}

test('a service that has answered many requests answers on', async () => {
  for (let count = 1; count <= 100; count += 1) {
    const format = count % 2 === 0 ? 'chat' : 'messages'
    const body = bodyFor(format, { max_tokens: 2, stream: count % 3 === 0 })
    const answer = await ask(service, paths[format], { body })
    equal(answer.status, 200, `request ${count}: ${answer.text}`)
    if (count % 3 === 0) checkStream(format, answer.text)
  }
})

describe('a client that leaves', () => {
  test('a client that leaves while its prompt is computed is charged the prompt alone', async () => {
    for (const format of formats) {
      const { stream, requestId, messages } = await openLong(format, 16_000)
      stream.leave()
      const row = await rowOf(requestId)
      deepEqual([row.outcome, row.reason, row.output], ['aborted', 'client-left', 0])
      const body = { model: 'clarke-1.0', messages }
      const counted = (await ask(service, '/v1/messages/count_tokens', { body })).json()['input_tokens']
      equal(row.input_uncached + row.input_cache_read, counted)
      ok(row.input_cache_read < 20, 'a prompt that begins differently is computed')
    }
  })

  test('a client that leaves in the midst of its answer is charged what the engine made', async () => {
    const fields = { model: 'hal-1.0', seed: 5, temperature: 1 }
    const whole = (await ask(service, paths.chat, { body: bodyFor('chat', fields) })).json()
    const { completion_tokens: full } = whole['usage'] as { completion_tokens: number }
    ok(full > 20, `This seed's answer is too short for the test: ${full}`)
    const beside = await Promise.all(formats.map((format) => openLong(format, 20_000)))
    const { stream, requestId } = await open('chat', fields)
    ok(await stream.has(/("reasoning":"[^]*){3}/))
    stream.leave()
    const received = stream.text().match(answered)?.length ?? 0
    const row = await rowOf(requestId)
    for (const other of beside) other.stream.leave()
    equal(row.outcome, 'aborted')
    ok(row.output >= received && row.output < full, `${received} received, ${row.output} charged, ${full} in all`)
    ok(row.output_thinking > 0 && row.output_thinking <= row.output)
    for (const other of beside) equal((await rowOf(other.requestId)).outcome, 'aborted')
  })

  test('a client that leaves before a whole answer came is charged what the engine made', async () => {
    for (const format of formats) {
      const known = service.ledger().length
      const controller = new AbortController()
      const asking = fetch(`${service.address}${paths[format]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.key}` },
        body: JSON.stringify(bodyFor(format, { messages: longMessages(16_000) })),
        signal: controller.signal,
      })
      // Sent after it on a slower way, so that the engine has begun with both.
      const beside = await openLong(format, 16_000)
      controller.abort()
      equal(await asking.catch(() => null), null)
      beside.stream.leave()
      await until(() => service.ledger().length === known + 2, 'The ledger lacks a row.')
      for (const row of service.ledger().slice(known)) deepEqual([row.outcome, row.output], ['aborted', 0])
    }
  })

  test('a client that leaves makes room for others', async () => {
    equal((await ask(service, paths.chat, { body: bodyFor('chat') })).status, 200)
  })
})

test('a stream is kept alive while its prompt is computed', async () => {
  const streams = await Promise.all([...formats, ...formats, ...formats].map((format) => openLong(format, 30_000)))
  for (const { format, stream } of streams) {
    const filled = format === 'chat' ? /\n\n: keep-alive\n\n/ : /event: ping\n[^]*event: ping\n/
    ok(await stream.has(filled))
    ok(!stream.text().includes('\nid:') && !/^:\s*$/m.test(stream.text()))
    readFrames(stream.text())
  }
  for (const { stream } of streams) stream.leave()
  for (const { requestId } of streams) equal((await rowOf(requestId)).outcome, 'aborted')
})

test('an engine that dies breaks its streams off and nothing else', async (t) => {
  const long = await Promise.all([...formats, ...formats].map((format) => openLong(format, 12_000)))
  // Some of the short answers may have ended by the time of the kill, on a busy machine all of them.
  const answering = await Promise.all([
    ...formats.map((format) => open(format, { model: 'hal-1.0', temperature: 1 })),
    ...formats.map((format) => open(format, longAnswerBody(format))),
  ])
  for (const { stream } of answering) ok(await stream.has(new RegExp(answered.source)))
  const killedAtMs = performance.now()
  process.kill(await service.enginePid(), 'SIGKILL')

  let broken = 0
  let brokenInText = 0
  for (const opened of [...long, ...answering]) {
    const end = await opened.stream.ended
    const row = await rowOf(opened.requestId)
    if (isComplete(opened, end)) {
      equal(end.isWhole, true)
      checkStream(opened.format, end.text)
      equal(row.outcome, 'finished')
      continue
    }
    broken += 1
    const received = end.text.match(answered)?.length ?? 0
    if (received > 0) brokenInText += 1
    checkBroken(opened, end, {
      chat: { type: 'server_error', code: 'stream_error' },
      messages: { type: 'api_error' },
    })
    deepEqual([row.outcome, row.reason], ['failed', 'engine-failed'])
    ok(row.output >= received)
  }
  ok(broken >= long.length, 'those that had no answer yet are broken')
  ok(brokenInText >= formats.length, 'those whose answer is long are broken in its midst')

  for (const format of formats) {
    const answer = await ask(service, paths[format], { body: bodyFor(format) })
    equal(answer.status, 200, answer.text)
  }
  const recoveredMs = performance.now() - killedAtMs
  t.diagnostic(
    `${broken} of ${long.length + answering.length} streams broken, answering again after ${Math.round(recoveredMs)} ms`,
  )
})

describe('a service that is told to stop', () => {
  test('a service told to stop ends what it has begun and refuses the rest', async () => {
    const streams = await Promise.all(formats.map((format) => openLong(format, 16_000)))
    const exited = service.stop('SIGTERM')
    const ready = await until(async () => {
      const answer = await ask(service, '/readyz', { key: null })
      return answer.status === 503 ? answer : null
    }, 'The service stays ready.')
    equal(ready.json()['status'], 'draining')
    for (const format of formats) {
      for (const stream of [false, true]) {
        const refused = await ask(service, paths[format], { body: bodyFor(format, { stream }) })
        checkError(refused, format, {
          status: format === 'chat' ? 503 : 529,
          type: format === 'chat' ? 'service_unavailable_error' : 'overloaded_error',
          code: 'server_is_overloaded',
        })
        equal(refused.headers.get('connection'), 'close')
      }
    }
    for (const { format, stream, requestId } of streams) {
      const { text, isWhole } = await stream.ended
      equal(isWhole, true)
      checkStream(format, text)
      equal((await rowOf(requestId)).outcome, 'finished')
    }
    equal(await exited, 0)
    service = await service.restart()
  })

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`a service ends what it has begun when ${signal} went to every process of it`, async () => {
      const { format, stream, requestId } = await openLong('messages', 8_000)
      process.kill(await service.enginePid(), signal)
      const exited = service.stop(signal)
      const { text, isWhole } = await stream.ended
      equal(isWhole, true)
      checkStream(format, text)
      equal((await rowOf(requestId)).outcome, 'finished')
      equal(await exited, 0)
      service = await service.restart()
    })
  }

  test('a service told to stop twice cuts what is left and says so', async () => {
    const streams = await Promise.all([...formats, ...formats].map((format) => openLong(format, 30_000)))
    const exited = service.stop('SIGTERM')
    await until(async () => (await ask(service, '/readyz', { key: null })).status === 503, 'The service stays ready.')
    equal(await service.stop('SIGTERM'), 0)
    equal(await exited, 0)
    for (const opened of streams) {
      checkBroken(opened, await opened.stream.ended, {
        chat: { type: 'service_unavailable_error', code: 'server_is_overloaded' },
        messages: { type: 'overloaded_error' },
      })
      const row = await rowOf(opened.requestId)
      deepEqual([row.outcome, row.reason, row.output], ['failed', 'service-stopping', 0])
      ok(row.input_uncached > 30_000)
    }
    service = await service.restart()
    equal((await ask(service, '/v1/models')).status, 200)
  })

  test('a service with nothing under way ends at once when told to, on SIGINT too', async () => {
    equal(await service.stop('SIGINT'), 0)
  })
})
