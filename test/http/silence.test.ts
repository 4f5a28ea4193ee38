import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { until } from '../harness/start-service.ts'
import { Transcript } from '../harness/http/transcript.ts'

// What happens while nothing comes: pings, spaces, readers that stall. The engine is
// scripted and the service's clock is moved by hand, so that minutes pass at once.

let service: FakeService
let script: readonly FakeStep[] = []
let startsAfterMs = 0
/** Resolves when the engine is at work on the next request. */
let working = Promise.withResolvers<void>()

const hold: FakeStep = { kind: 'wait', ms: 60_000 }
const moment: FakeStep = { kind: 'wait', ms: 300 }
const end: FakeStep = { kind: 'end', reason: { kind: 'end' } }
const text = (...texts: string[]): FakeStep => ({ kind: 'block', block: { kind: 'text' }, texts })

before(async () => {
  const take = () => {
    working.resolve()
    return script
  }
  service = await startFakeService({ script: take, startsAfterMs: () => startsAfterMs })
})
after(() => service.close())
beforeEach(async () => {
  const { last } = await service.db
    .selectFrom('ledger')
    .select(({ fn }) => fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  lastSequence = Number(last ?? 0)
})

/** The rows of the tests before, which nobody can delete. */
let lastSequence = 0

const bodyOf = (changes: Record<string, unknown>) =>
  JSON.stringify({ model: 'clarke-1.0', max_tokens: 900, messages: [{ role: 'user', content: 'x' }], ...changes })

function ask(path: string, changes: Record<string, unknown> = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${service.key}` }
  return fetch(`${service.address}${path}`, { method: 'POST', headers, body: bodyOf(changes) })
}

/** Moves the clock on until something is true. */
function advanceUntil(isTrue: () => boolean | Promise<boolean>, failure: string): Promise<true> {
  return until(async () => {
    service.clock.advance(5_000)
    return (await isTrue()) ? true : null
  }, failure)
}

const ledgerRow = () =>
  service.db.selectFrom('ledger').select(['outcome', 'output']).where('sequence', '>', lastSequence).executeTakeFirst()

for (const [path, ping] of [
  ['/v1/chat/completions', ': keep-alive\n\n: keep-alive\n\n'],
  ['/v1/messages', 'event: ping\ndata: {"type":"ping"}\n\nevent: ping\ndata: {"type":"ping"}\n\n'],
] as const) {
  test(`a silent stream of ${path} is kept alive, and the leaving of its reader ends it`, async () => {
    script = [text('a'), hold, end]
    const transcript = new Transcript(await ask(path, { stream: true }))
    await advanceUntil(() => transcript.text.includes(ping), 'There are no pings.')
    assert.ok(transcript.text.indexOf('"a"') < transcript.text.indexOf(ping))
    await transcript.leave()
    await until(ledgerRow, 'The request is not in the ledger.')
    assert.deepEqual({ ...(await ledgerRow()) }, { outcome: 'aborted', output: 1 })
  })

  test(`a stream of ${path} that has to wait for its start is answered after 10 seconds`, async () => {
    script = [text('a'), end]
    startsAfterMs = 400
    const asked = ask(path, { stream: true })
    let head: Response | null = null
    void asked.then((response) => (head = response))
    await advanceUntil(() => head !== null, 'The head does not come.')
    const transcript = new Transcript(await asked)
    await advanceUntil(() => transcript.end !== null, 'The stream does not end.')
    startsAfterMs = 0
    assert.match(transcript.text, /^: keep-alive\n\n/)
    assert.match(transcript.text, /message_stop|\[DONE\]/)
  })

  test(`an answer of ${path} that takes long is preceded by spaces`, async () => {
    script = [text('a'), moment, end]
    working = Promise.withResolvers()
    const asked = ask(path)
    await working.promise
    service.clock.advance(46_000)
    const whole = await (await asked).text()
    assert.match(whole, /^ {2}\{/)
    assert.ok(JSON.parse(whole))
  })

  test(`an answer of ${path} that fails after the first space is cut off`, async () => {
    script = [text('a'), moment, { kind: 'fail', error: new Error('bug') }]
    working = Promise.withResolvers()
    const asked = ask(path)
    await working.promise
    service.clock.advance(31_000)
    const transcript = new Transcript(await asked)
    await until(() => transcript.end, 'The answer does not end.')
    assert.deepEqual([transcript.end, transcript.text], ['cut', ' '])
  })
}

test('a reader that stalls is cut off after 30 seconds and does not make the service buffer', async () => {
  const piece = 'x'.repeat(100_000)
  script = [text(...Array.from({ length: 900 }, () => piece)), end]
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1')
  const body = bodyOf({ stream: true })
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  socket.pause()
  await new Promise((resolve) => setTimeout(resolve, 300))
  await advanceUntil(async () => (await ledgerRow()) !== undefined, 'The request is not ended.')
  const row = await ledgerRow()
  // The kernel's buffers swallow some megabytes; the other pieces were never made.
  assert.equal(row?.outcome, 'aborted')
  assert.ok(row.output < 300, `${row.output} pieces were made`)
  socket.resume()
  socket.on('error', () => {})
  await once(socket, 'close')
})
